/** The program of a source tree: all of `skerry`, and the commands that work on the repository itself. */
import { runProgram } from './run-program.ts'

await runProgram({
  runTests: async (request) => (await import('./test.ts')).runTests(request),
  build: async (request) => (await import('./build.ts')).buildProgram(request),
  bench: async (request) => (await import('./bench.ts')).runBench(request),
})
