import { networkInterfaces } from 'node:os'
import { runAll } from '@skerry/base'
import type { CertificateAndKey, NodeIdentity } from '@skerry/bootstrap'
import { createInnerServer, type InnerServer, type RunningKubelet } from '@skerry/kubelet'
import { createLocalApi, type LocalNode } from '@skerry/node-api'
import { signNodeToken } from '@skerry/pki'
import type { MachineAddress } from '../runtime/machine-address.ts'
import { obtainServingCertificate, pkiDirectory } from '../runtime/node-identity.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import { copiesDirectory } from './copies-directory.ts'
import { nodeBounds } from './limits-table.ts'
import type { NodeLocalApi } from './node.ts'

interface LocalApiDeps extends RoleContext {
  identity: NodeIdentity
  kubelet: RunningKubelet
  address: MachineAddress
}

/** Serves the API to this node's pods until the signal aborts. */
export async function serveLocalApi(
  options: NodeLocalApi & { nodeName: string; dataDir: string },
  { identity, kubelet, address: machine, ...context }: LocalApiDeps,
  signal: AbortSignal,
): Promise<void> {
  const { nodeName, address, port, kept } = options
  const directory = pkiDirectory(options)
  // The certificate names this address alone: with it, no node can pass as the API server of another machine.
  const names = { dnsNames: [], ipAddresses: [address] }
  const serving = await obtainServingCertificate(
    identity,
    { nodeName, directory, fileName: 'local-api', ...names },
    { ...context, signal },
  )
  const { authorityPem } = identity.info
  const tlsOf = (pair: CertificateAndKey) => ({
    cert: pair.certificatePem,
    key: pair.privateKeyPem,
    clientCa: authorityPem,
  })
  await untilAddress(address, context, signal)
  await using inner = createInnerServer({ ...kubelet, ...context }, signal)
  await using api = await createLocalApi(
    {
      nodeName,
      address,
      port,
      tls: tlsOf(serving.current),
      directory: copiesDirectory(options),
      kept,
      userAgent: `skerry-node/${version}`,
    },
    {
      ...context,
      controlPlane: {
        server: () => identity.servers.current,
        authorityPem,
        open: (credentials) =>
          credentials
            ? identity.servers.transport({ certificateAuthority: authorityPem, credentials })
            : identity.open(),
      },
      node: localNode({ nodeName, identity, kubelet, inner }, context),
    },
    signal,
  )
  using _moves = machine.onChange(() => api.reconnect())
  using _renewed = serving.onRenewed((pair) => api.setTls(tlsOf(pair)))
  context.log.info('Local API serves', { node: nodeName, address, port: api.port })
  await runAll(signal, [(scope) => api.run(scope), (scope) => serving.run(scope)])
}

interface NodeParts {
  readonly nodeName: string
  readonly identity: NodeIdentity
  readonly kubelet: RunningKubelet
  readonly inner: InnerServer
}

function localNode(
  { nodeName, identity, kubelet, inner }: NodeParts,
  { clock }: Pick<RoleContext, 'clock'>,
): LocalNode {
  const { pods } = kubelet
  return {
    accounts: () =>
      pods.list().map(({ metadata: { namespace = '' }, spec }) => ({
        namespace,
        name: spec?.serviceAccountName || 'default',
      })),
    hasPod: ({ namespace, name, uid }) => pods.find(namespace, name)?.metadata.uid === uid,
    findPod: (namespace, name) => pods.find(namespace, name),
    connect: () => inner.connect(),
    tokensOf: (podUid) => kubelet.tokensOf(podUid),
    signToken: (former, seconds) =>
      signNodeToken(
        former,
        { nodeName, ...identity.client.current },
        { nowMs: clock.now(), seconds },
      ),
    certificatePem: () => identity.client.current.certificatePem,
  }
}

const { addressLookMs } = nodeBounds.localApi

/** The service network gives this machine the address. */
async function untilAddress(
  address: string,
  { clock }: RoleContext,
  signal: AbortSignal,
): Promise<void> {
  const hasAddress = (): boolean =>
    Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === address))
  while (!hasAddress()) await clock.sleep(addressLookMs, signal)
}
