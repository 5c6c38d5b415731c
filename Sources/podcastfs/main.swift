import Commands
import Glibc
import PosixKit

StandardDescriptors.complete()
signal(SIGPIPE, SIG_IGN)
UserMask.restrict()
ProgramEnd.leave(CommandLineTool.run(ProgramArguments.all))
