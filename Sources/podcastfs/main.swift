import CLI
import PosixKit

StandardDescriptors.complete()
Signals.ignoreFailedWrites()
UserMask.restrict()
ProgramEnd.leave(CommandLineTool.run(ProgramArguments.all))
