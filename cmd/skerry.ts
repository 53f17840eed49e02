/**
 * The program. Nothing else reads argv and signals. Each command's own file is imported only when that command runs: a node
 * agent must not pay for the API server's code.
 */
import { runProgram } from './run-program.ts'

await runProgram()
