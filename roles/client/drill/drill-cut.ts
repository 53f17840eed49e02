import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes, messageOf, systemClock } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import { createCluster, createHttpsTransport, resources } from '@skerry/client'
import { silentLogger } from '@skerry/base'
import { dialContainerd } from '@skerry/kubelet'
import { readCertificate } from '@skerry/pki'
import { readRoleDirectories } from '../../admin/certificate-list.ts'
import { containerdSocket } from '../../node/node-containerd.ts'
import { addressOf } from '../../runtime/host-addresses.ts'
import { pkiDirectory } from '../../runtime/node-identity.ts'
import { stopSignal } from '../../runtime/role-context.ts'
import { version } from '../../runtime/version.ts'
import { clientBounds } from '../limits-table.ts'
import { atTheEnd, runCommand } from '../link/kernel-commands.ts'
import {
  drillTable,
  judgeCut,
  planCutTable,
  type CutStory,
  type Look,
  type ServerAddress,
} from './cut-plan.ts'
import { printFindings } from './print-findings.ts'
import { isOpen, lookAt, type WatchedNode } from './watch-node.ts'

export interface DrillCutOptions {
  readonly dataDir: string
  readonly runDir: string
  readonly cutMs: number
  readonly network: { readonly serviceCidr: string; readonly clusterDomain: string }
  readonly kubeletPort: number
  readonly localApi: ServerAddress
  readonly output: string | undefined
}

const { lookMs, betweenMs, afterMs, returnMs, askMs } = clientBounds.drillCut

/** Cuts this machine's node off from its control plane, watches it, and prints what broke. Interrupted, it ends the cut at once. */
export async function drillCut(options: DrillCutOptions): Promise<void> {
  const { dataDir, runDir, network, localApi, output } = options
  const roles = await readRoleDirectories(dataDir, systemClock.now())
  const directory = roles.find(({ kind }) => kind === 'node')?.path
  if (directory === undefined) throw cannot(`${dataDir} has no node; pass --data-dir`)
  const pki = pkiDirectory({ dataDir: directory })
  const urls = await serversOf(pki)
  const servers = await addressesOf(urls)
  await using runtime = dialContainerd(containerdSocket(runDir))
  const node: WatchedNode = {
    runtime,
    servers,
    localApi: (await isOpen(localApi)) ? localApi : undefined,
    dns: {
      server: addressOf(network.serviceCidr, 10),
      name: `kubernetes.default.svc.${network.clusterDomain}`,
    },
  }
  const story = await playCut(node, { ...options, servers, pki, urls }, stopSignal())
  const findings = judgeCut(story)
  if (findings.some(({ result }) => result === 'breaks')) process.exitCode = exitCodes.failure
  printFindings(findings, output)
}

interface CutPlan extends DrillCutOptions {
  readonly servers: readonly ServerAddress[]
  readonly urls: readonly string[]
  readonly pki: string
}

async function playCut(node: WatchedNode, plan: CutPlan, signal: AbortSignal): Promise<CutStory> {
  const startMs = systemClock.monotonicMs()
  const sinceMs = (): number => systemClock.monotonicMs() - startMs
  const look = (scope: AbortSignal): Promise<Look> => lookAt(node, sinceMs(), scope)
  const before = await look(signal)
  const lookFor = async (ms: number, scope: AbortSignal): Promise<Look[]> => {
    const looks: Look[] = []
    const untilMs = sinceMs() + ms
    while (sinceMs() < untilMs && !scope.aborted) {
      // An interruption ends the cut, and what was seen is reported.
      await systemClock
        .sleep(Math.min(betweenMs, untilMs - sinceMs()), scope)
        .catch(() => undefined)
      if (!scope.aborted) looks.push(await look(never))
    }
    return looks
  }
  const during = await withCut(plan, signal, () => lookFor(plan.cutMs, signal))
  const returnedMs = systemClock.now()
  const returnedAtMs = sinceMs()
  const limit = AbortSignal.timeout(returnMs)
  const leased = untilLease(plan, returnedMs, limit).then(
    () => sinceMs() - returnedAtMs,
    () => undefined,
  )
  const after = await lookFor(afterMs, never)
  return { before, during, after, leaseMs: await leased }
}

const never = new AbortController().signal

async function withCut<T>(plan: CutPlan, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  const { servers, kubeletPort, cutMs } = plan
  // The last look still belongs to the cut; the kernel's timer is for a command that was killed.
  const forMs = cutMs + betweenMs + 2 * lookMs
  const made = await runCommand(
    ['nft', '-f', '-'],
    signal,
    planCutTable(servers, { kubeletPort, forMs }),
  )
  if (made.code !== 0) {
    throw cannot(
      `nft ended with ${made.code}: ${made.stderr.trim()}; if the table ${drillTable} is left from another drill, remove it with "nft delete table inet ${drillTable}"`,
    )
  }
  await using _back = atTheEnd(['nft', 'delete', 'table', 'inet', drillTable])
  return await act()
}

/** Waits until the control plane has a renewal of the node's lease from after the cut. */
async function untilLease({ pki, urls }: CutPlan, afterEpochMs: number, signal: AbortSignal) {
  const read = (name: string): Promise<string> => readFile(join(pki, name), 'utf8')
  const [certificateAuthority, certificate, key] = await Promise.all([
    read('ca.crt'),
    read('kubelet-client.crt'),
    read('kubelet-client.key'),
  ])
  const name = readCertificate(certificate).commonName.replace('system:node:', '')
  const config = {
    certificateAuthority,
    credentials: () => Promise.resolve({ certificate, key }),
    answerHeadTimeoutMs: askMs,
  }
  for (;;) {
    for (const server of urls) {
      using transport = createHttpsTransport({ ...config, server }, { clock: systemClock })
      const deps = { clock: systemClock, log: silentLogger, userAgent: `skerry-drill/${version}` }
      const leases = createCluster(transport, deps).resource(resources.leases)
      const found = await leases
        .get({ namespace: 'kube-node-lease', name }, signal)
        .catch(() => undefined)
      if (Date.parse(found?.spec?.renewTime ?? '') > afterEpochMs) return
    }
    await systemClock.sleep(betweenMs, signal)
  }
}

/** Returns the URLs that the node knows: those that it joined with, and those that the control plane named. */
async function serversOf(pki: string): Promise<string[]> {
  const files = await Promise.all(
    ['server', 'servers'].map((name) => readFileIfPresent(join(pki, name))),
  )
  const lines = files.flatMap((text) => text?.split('\n') ?? [])
  const urls = [...new Set(lines.filter((line) => URL.parse(line)?.protocol === 'https:'))]
  if (urls.length > 0) return urls
  throw cannot(`the node in ${pki} knows no API server; it has not joined a cluster`)
}

async function addressesOf(urls: readonly string[]): Promise<ServerAddress[]> {
  const found = await Promise.all(
    urls.map(async (url) => {
      const { hostname, port } = new URL(url)
      try {
        const all = await lookup(hostname.replaceAll(/[[\]]/g, ''), { all: true })
        return all.map(({ address }) => ({ address, port: Number(port || '443') }))
      } catch (error) {
        throw cannot(`the address of ${url} is not known: ${messageOf(error)}`)
      }
    }),
  )
  const all = found.flat().map((each) => [`${each.address} ${each.port}`, each] as const)
  return [...new Map(all).values()]
}

function cannot(why: string): ExpectedError {
  return new ExpectedError(`Cannot drill: ${why}`, exitCodes.failure)
}
