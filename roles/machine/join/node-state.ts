import { join } from 'node:path'
import { ExpectedError, exitCodes, type Connect } from '@skerry/base'
import { readCertificateInUse, readKnownAuthority } from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  ifThere,
  resources,
  type ClusterClient,
} from '@skerry/client'
import { places, type OwnMachineContext } from '@skerry/provisioning'
import { decodePem, spkiHash } from '@skerry/pki'
import { version } from '../../runtime/version.ts'
import type { JoinDeps } from './own-machine.ts'

/** An identity that a role of this machine has at a server. */
export interface HeldIdentity {
  /** The directory with ca.crt and the pair. */
  readonly directory: string
  /** The name of the pair, without its ending. */
  readonly name: string
  readonly server: string
  /** Connects to the server. If omitted, over TCP. */
  readonly connect?: Connect
}

const nodeDirectory = join(places.data, 'node', 'pki')

/** Rejects with an ExpectedError if this machine is a node of another site, whose pods it may run. */
export async function refuseOtherSite(caHash: string): Promise<void> {
  const known = await readKnownAuthority(join(nodeDirectory, 'ca.crt'), 'skerry token create')
  if (known === undefined || decodePem(known).some((pem) => spkiHash(pem) === caHash)) return
  const text =
    'Cannot join: this machine is a node of another site; run "skerry machine clean --yes" first, which removes its pods'
  throw new ExpectedError(text, exitCodes.usage)
}

/** Returns how far the node is, as its site reports it to itself; undefined once it is Ready. */
export function nodeLook(
  { nodeName, server }: { readonly nodeName: string; readonly server: string },
  context: OwnMachineContext,
  deps: JoinDeps,
): (signal: AbortSignal) => Promise<string | undefined> {
  const { clock } = context
  // A node that joins again was Ready before. Heartbeats are whole seconds.
  const sinceMs = clock.now() - 1_000
  const held = { directory: nodeDirectory, name: 'kubelet-client', server }
  return (signal) =>
    asHeld(held, deps, 'the node asks for its certificate', async (cluster) => {
      const node = await ifThere(cluster.resource(resources.nodes).get({ name: nodeName }, signal))
      const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')
      if (node === undefined || ready === undefined) return 'the node starts'
      if (!(Date.parse(ready.lastHeartbeatTime ?? '') >= sinceMs)) return 'the node starts'
      return ready.status === 'True' ? undefined : (ready.message ?? 'the node is not Ready')
    })
}

/** Asks a server with an identity of this machine, or resolves with `otherwise` while there is none. */
export async function asHeld(
  { directory, name, server, connect }: HeldIdentity,
  { clock, log }: Pick<JoinDeps, 'clock' | 'log'>,
  otherwise: string,
  ask: (cluster: ClusterClient) => Promise<string | undefined>,
): Promise<string | undefined> {
  const certificatePath = join(directory, `${name}.crt`)
  const paths = { certificatePath, keyPath: join(directory, `${name}.key`) }
  const pair = await readCertificateInUse(paths, clock.now())
  const authority = await readKnownAuthority(join(directory, 'ca.crt'), 'skerry token create')
  if (pair === undefined || authority === undefined) return otherwise
  const credentials = fixedCredentials({
    certificate: pair.certificatePem,
    key: pair.privateKeyPem,
  })
  using transport = createHttpsTransport(
    { server, certificateAuthority: authority, credentials, ...(connect ? { connect } : {}) },
    { clock },
  )
  return await ask(createCluster(transport, { clock, log, userAgent: `skerry/${version} (join)` }))
}
