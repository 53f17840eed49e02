import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { builtinKinds, type KindSwitches } from '@skerry/kinds'
import type { BackendDial } from '@skerry/apiserver'
import { systemClock, type Clock } from '@skerry/base'
import { startTestApiServer } from '@skerry/testing'
import { compareAnswers, type Difference } from './compare.ts'
import { explanationOf } from './explained-differences.ts'
import { parseGolden } from './golden.ts'
import { runScript, type Answer } from './run-script.ts'
import { parseScript, type Script } from './script.ts'
import type { Subject } from './subject.ts'

const root = import.meta.dirname

/** The prefix of scripts for servers that also serve beta versions. */
export const betaPrefix = 'beta-'

export const betaSwitches = {
  runtimeConfig: { 'api/beta': 'true' },
  featureGates: {
    ClusterTrustBundle: 'true',
    PodCertificateRequest: 'true',
    StorageVersionMigrator: 'true',
  },
} satisfies KindSwitches

/** No script has a node or a running pod. */
const unreachable: BackendDial = {
  dialNode: () => Promise.reject(new Error('Cannot reach the node: there is none')),
  dialAddress: () => Promise.reject(new Error('Cannot reach the address: there is nobody')),
}

/** No script creates a reachable extension server, so none receives this identity. */
const noIdentity = () => ({ certificatePem: '', privateKeyPem: '' })

/** Reads every script, or those whose name contains one of the given parts. */
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

/** Reads upstream's recorded answers. */
export function readGolden(script: string): Answer[] {
  const path = goldenPath(script)
  if (!existsSync(path))
    throw new Error(
      `Cannot replay ${script}: record it first (node_modules/.bin/node dev/hack/differential.ts record)`,
    )
  return parseGolden(readFileSync(path, 'utf8'))
}

/**
 * Returns a clock that does not advance, so that no answer depends on whether a second begins between two
 * requests, as in a recording.
 */
function standingClock(): Clock {
  const now = systemClock.now()
  return { ...systemClock, now: () => now }
}

/** Starts our API server on a real socket, without controllers. */
export async function startOurs(withBeta: boolean): Promise<Subject & AsyncDisposable> {
  return startTestApiServer({
    clock: standingClock(),
    withAccess: true,
    ...(withBeta ? { kinds: await builtinKinds({ switches: betaSwitches }) } : {}),
    hasFlowControl: true,
    limits: { seatSharingMs: 20 },
    checksPolicyTypes: false,
    dial: unreachable,
    aggregation: { identity: noIdentity },
    namespaces: ['default', 'kube-system', 'kube-public', 'kube-node-lease'],
  })
}

/** Runs scripts one after the other, as upstream's were recorded, and yields our answers. */
export async function* runOurs(
  scripts: readonly Script[],
): AsyncGenerator<{ script: Script; answers: Answer[] }> {
  for (const withBeta of [false, true]) {
    const some = scripts.filter(({ name }) => name.startsWith(betaPrefix) === withBeta)
    if (some.length === 0) continue
    await using ours = await startOurs(withBeta)
    for (const script of some) yield { script, answers: await runScript(script, ours) }
  }
}

/** Returns the differences without an explanation. */
export function unexplained(
  script: Script,
  upstream: readonly Answer[],
  ours: readonly Answer[],
): Difference[] {
  return compareAnswers(script.name, upstream, ours).filter(
    (difference) => explanationOf(difference) === undefined,
  )
}
