import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultKarmadaCache, karmadaSource, karmadaVersion } from '../upstream/karmada-build.ts'

export interface OracleQuestion {
  readonly operation: string
  readonly object: unknown
  readonly [more: string]: unknown
}

/** An answer of Karmada's function: its result, or the text of its error. */
export interface OracleAnswer {
  readonly error?: string
  readonly result?: unknown
}

const bytesMax = 64 * 1024 * 1024

/** Asks Karmada's own functions. Needs the Go toolchain; building takes a minute the first time. */
export function askKarmada(questions: readonly OracleQuestion[]): OracleAnswer[] {
  const text = execFileSync(buildOracle(), {
    input: JSON.stringify(questions),
    encoding: 'utf8',
    maxBuffer: bytesMax,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // The program oracle.go writes this type.
  return JSON.parse(text) as OracleAnswer[]
}

/** Builds a separate module that requires the same versions as Karmada. */
function buildOracle(): string {
  const source = karmadaSource()
  const directory = join(defaultKarmadaCache, 'oracle')
  mkdirSync(directory, { recursive: true })
  copyFileSync(join(import.meta.dirname, 'oracle.go'), join(directory, 'main.go'))
  const requirements = readFileSync(join(source, 'go.mod'), 'utf8').replace(
    /^module .*$/m,
    'module oracle',
  )
  const own = `require github.com/karmada-io/karmada v${karmadaVersion}`
  writeFileSync(join(directory, 'go.mod'), `${requirements}\n${own}\n`)
  if (!existsSync(join(directory, 'go.sum'))) {
    writeFileSync(join(directory, 'go.sum'), readFileSync(join(source, 'go.sum')))
  }
  const program = join(directory, 'oracle')
  execFileSync('nice', ['-n', '10', 'go', 'build', '-mod=mod', '-o', program, '.'], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return program
}
