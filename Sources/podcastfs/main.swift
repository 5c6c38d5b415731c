import Commands
import Glibc
import PosixKit

signal(SIGPIPE, SIG_IGN)
// What it makes is for its user alone.
umask(0o077)
exit(CommandLineTool.run(Array(ProgramArguments.all.dropFirst())))
