import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentUserName, agentsGroup } from '@skerry/fleet-kinds'
import { generateKeyPair, signCertificate } from '@skerry/pki'
import { openRawClient, type RawClient } from '../../processes/raw-client.ts'
import {
  memoryOf,
  processorMs,
  startRoleProcess,
  type RoleProcess,
} from '../../processes/role-process.ts'

export interface HubPlace {
  /** The bundle's entry. */
  readonly program: string
  readonly directory: string
  readonly port: number
}

/** A hub in a process of its own, and what it takes. */
export interface MeasuredHub extends AsyncDisposable {
  readonly client: RawClient
  readonly url: string
  /** Ends it like a power failure, and starts it again on its data. Resolves when it serves. */
  restart(): Promise<void>
  /** The time on processors since it was started last. */
  processorMs(): Promise<number>
  /** Resident memory, in MB. */
  memory(): Promise<number>
  /** Measures its cost while nobody asks for anything. */
  atRest(ms: number): Promise<AtRest>
}

export interface AtRest {
  /** Milliseconds on processors in a second. */
  readonly processor: number
  readonly writesPerSecond: number
  /** Bytes by which the store's files grew in a second. */
  readonly storeBytesPerSecond: number
}

export async function startMeasuredHub(place: HubPlace): Promise<MeasuredHub> {
  await mkdir(place.directory, { recursive: true })
  const data = join(place.directory, 'hub')
  let hub = await startHub(place)
  const client = await openRawClient(join(data, 'admin.kubeconfig'))
  return {
    client,
    url: `https://127.0.0.1:${place.port}`,
    async restart() {
      process.kill(hub.pid, 'SIGKILL')
      await hub[Symbol.asyncDispose]()
      hub = await startHub(place)
    },
    processorMs: () => processorMs(hub.pid),
    memory: async () => (await memoryOf(hub.pid)).resident,
    async atRest(ms) {
      const before = await countersOf(hub.pid, { client, data })
      await sleep(ms)
      const after = await countersOf(hub.pid, { client, data })
      const perSecond = (from: number, to: number): number => ((to - from) * 1_000) / ms
      return {
        processor: perSecond(before.processorMs, after.processorMs),
        writesPerSecond: perSecond(before.revision, after.revision),
        storeBytesPerSecond: perSecond(before.storeBytes, after.storeBytes),
      }
    },
    async [Symbol.asyncDispose]() {
      client.close()
      await hub[Symbol.asyncDispose]()
    },
  }
}

function startHub({ program, directory, port }: HubPlace): Promise<RoleProcess> {
  const listening = ['--bind-address', '127.0.0.1', '--port', String(port)]
  return startRoleProcess({
    program,
    role: 'hub',
    args: ['--data-dir', join(directory, 'hub'), ...listening],
    directory,
    compileCache: join(directory, 'compile-cache'),
  })
}

async function countersOf(
  pid: number,
  { client, data }: { readonly client: RawClient; readonly data: string },
) {
  const { body } = await client.get('/api/v1/nodes?limit=1')
  // A list of the store, whose version is that of the newest write.
  const { metadata } = JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }
  const files = (await readdir(data)).filter((name) => name.startsWith('store.db'))
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(data, name))).size))
  return {
    processorMs: await processorMs(pid),
    revision: Number(metadata.resourceVersion),
    storeBytes: sizes.reduce((sum, size) => sum + size, 0),
  }
}

const dayMs = 24 * 3_600_000

/**
 * Writes identities that the hub's own authority signs, as if each agent had registered. All agents share one key: creating
 * ten thousand would not measure the hub.
 */
export async function writeIdentities(
  { directory }: HubPlace,
  names: readonly string[],
  home: string,
): Promise<void> {
  const read = (name: string) => readFile(join(directory, 'hub', 'pki', name), 'utf8')
  const [ca, caKey] = await Promise.all([read('ca.crt'), read('ca.key')])
  const authority = { certificatePem: ca, privateKeyPem: caKey }
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  for (const name of names) {
    const certificate = await signCertificate(authority, {
      subject: { commonName: agentUserName(name), organizations: [agentsGroup] },
      publicKeyPem,
      notBeforeMs: Date.now() - dayMs,
      notAfterMs: Date.now() + 300 * dayMs,
      keyUsages: ['digitalSignature'],
      extendedUsages: ['clientAuth'],
    })
    const own = join(home, name)
    await mkdir(own, { recursive: true, mode: 0o700 })
    const files = { 'ca.crt': ca, 'agent.crt': certificate, 'agent.key': privateKeyPem }
    for (const [file, text] of Object.entries(files)) {
      await writeFile(join(own, file), text, { mode: 0o600 })
    }
  }
}
