import Commands
import Glibc
import PosixKit

StandardDescriptors.complete()
signal(SIGPIPE, SIG_IGN)
UserMask.restrict()
exit(CommandLineTool.run(ProgramArguments.all))
