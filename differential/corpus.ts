import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { builtinKinds, type KindSwitches } from '@skerry/api'
import { startTestApiServer } from '@skerry/testing'
import { compareAnswers, type Difference } from './compare.ts'
import { explanationOf } from './explained-differences.ts'
import { parseGolden } from './golden.ts'
import { runScript, type Answer } from './run-script.ts'
import { parseScript, type Script } from './script.ts'

const root = import.meta.dirname

/** Scripts that are so named are for servers that serve beta versions, too. */
export const betaPrefix = 'beta-'

export const betaSwitches = {
  runtimeConfig: { 'api/beta': 'true' },
  featureGates: {
    ClusterTrustBundle: 'true',
    PodCertificateRequest: 'true',
    StorageVersionMigrator: 'true',
  },
} satisfies KindSwitches

/** Every script, or those whose name contains one of the given parts. */
export function readScripts(parts: readonly string[] = []): Script[] {
  return globSync('*.http', { cwd: join(root, 'scripts') })
    .map((file) => basename(file, '.http'))
    .toSorted()
    .filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)))
    .map((name) => parseScript(name, readFileSync(join(root, 'scripts', `${name}.http`), 'utf8')))
}

export function goldenPath(script: string): string {
  return join(root, 'golden', `${script}.golden`)
}

/** What upstream answered when the script was recorded. */
export function readGolden(script: string): Answer[] {
  const path = goldenPath(script)
  if (!existsSync(path))
    throw new Error(`Cannot replay ${script}: record it first (node hack/differential.ts record)`)
  return parseGolden(readFileSync(path, 'utf8'))
}

/** Our answers, from a server of its own over a real socket. */
export async function runOurs(script: Script): Promise<Answer[]> {
  await using server = await startTestApiServer({
    withAccess: true,
    ...(script.name.startsWith(betaPrefix)
      ? { kinds: await builtinKinds({ switches: betaSwitches }) }
      : {}),
    namespaces: ['default', 'kube-system', 'kube-public', 'kube-node-lease'],
  })
  return await runScript(script, server)
}

/** The differences that nobody has explained. */
export function unexplained(
  script: Script,
  upstream: readonly Answer[],
  ours: readonly Answer[],
): Difference[] {
  return compareAnswers(script.name, upstream, ours).filter(
    (difference) => explanationOf(difference) === undefined,
  )
}

const openPath = join(root, 'open-differences.txt')

/** Exchanges that are known to differ and wait to be put right: `script: exchange`, one on a line. */
export function readOpen(): Set<string> {
  if (!existsSync(openPath)) return new Set()
  return new Set(readFileSync(openPath, 'utf8').split('\n').filter(Boolean))
}

export { openPath }
