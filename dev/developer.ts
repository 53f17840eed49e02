/** The program of a source tree: all of `skerry`, and the commands that work on the repository itself. */
import { runProgram } from '../cmd/run-program.ts'

await runProgram({
  runTests: async (request) => (await import('./run-tests.ts')).runTests(request),
  build: async (request) => (await import('./build/build.ts')).buildProgram(request),
  bench: async (request) => (await import('./run-bench.ts')).runBench(request),
})
