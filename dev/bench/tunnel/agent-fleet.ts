import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentUserName, agentsGroup } from '@skerry/fleet-kinds'
import { tunnelPrefix } from '@skerry/gateway'
import { generateKeyPair, signCertificate } from '@skerry/pki'

/** The certificates with which one process acts as all agents. */
export interface AgentCertificates {
  readonly ca: string
  /** The key that all agents share: creating ten thousand would not measure the hub. */
  readonly key: string
  readonly certificates: readonly string[]
}

export interface AgentsReport {
  readonly open: number
  /** The times at which agents returned since the last mark, by the wall clock. */
  readonly backAtMs: readonly number[]
  /** The number of dials since the last mark. */
  readonly dials: number
}

export function agentName(number: number): string {
  return `edge-${number}`
}

export function agentTunnelUrl(hub: string, number: number): string {
  return `${hub.replace(/^http/, 'ws')}${tunnelPrefix}${agentName(number)}`
}

const dayMs = 24 * 3_600_000

/** Writes certificates that the hub's own authority signs, as if each agent had registered. */
export async function writeAgentCertificates(
  hubData: string,
  { path, count }: { path: string; count: number },
): Promise<void> {
  const read = (name: string): Promise<string> => readFile(join(hubData, 'pki', name), 'utf8')
  const [ca, caKey] = await Promise.all([read('ca.crt'), read('ca.key')])
  const authority = { certificatePem: ca, privateKeyPem: caKey }
  const { publicKeyPem, privateKeyPem: key } = await generateKeyPair()
  const certificates: string[] = []
  for (let number = 0; number < count; number += 1) {
    const subject = { commonName: agentUserName(agentName(number)), organizations: [agentsGroup] }
    const dates = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + dayMs }
    certificates.push(
      await signCertificate(authority, {
        subject,
        publicKeyPem,
        ...dates,
        keyUsages: ['digitalSignature'],
        extendedUsages: ['clientAuth'],
      }),
    )
  }
  const content: AgentCertificates = { ca, key, certificates }
  await writeFile(path, JSON.stringify(content), { mode: 0o600 })
}

export interface AgentFleet extends AsyncDisposable {
  /** Starts a new count of returned agents. */
  mark(): void
  reports(): readonly AgentsReport[]
  /** Waits until the wanted number is connected; throws after `msMax`. */
  until(isWanted: (open: number) => boolean, msMax: number): Promise<void>
}

const perProcess = 2_500
const pollMs = 50

export function startAgentFleet(hub: string, file: string, count: number): AgentFleet {
  const children: { child: ChildProcess; report: AgentsReport }[] = []
  for (let first = 0; first < count; first += perProcess) {
    const some = Math.min(perProcess, count - first)
    const script = join(import.meta.dirname, 'reconnecting-agents.ts')
    const args = [script, hub, file, String(first), String(some)]
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const entry = { child, report: { open: 0, backAtMs: [], dials: 0 } satisfies AgentsReport }
    // reconnecting-agents.ts sends only this type.
    child.on('message', (message) => (entry.report = message as typeof entry.report))
    children.push(entry)
  }
  const openNow = (): number => children.reduce((sum, { report }) => sum + report.open, 0)
  return {
    mark: () => children.forEach(({ child }) => child.send('mark')),
    reports: () => children.map(({ report }) => report),
    async until(isWanted, msMax) {
      const endMs = performance.now() + msMax
      while (!isWanted(openNow())) {
        if (performance.now() > endMs) {
          throw new Error(`Cannot measure: ${openNow()} of ${count} agents are connected`)
        }
        await sleep(pollMs)
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of children) child.kill()
    },
  }
}
