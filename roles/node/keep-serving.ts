import { linkedSignal } from '@skerry/base'
import type { CertificateAndKey, CertificateHolder, NodeIdentity } from '@skerry/bootstrap'
import type { MachineAddress } from '../runtime/machine-address.ts'
import { obtainServingCertificate } from '../runtime/node-identity.ts'
import type { RoleContext } from '../runtime/role-context.ts'

export interface ServingParts {
  readonly identity: NodeIdentity
  readonly nodeName: string
  readonly directory: string
  readonly address: MachineAddress
}

export interface ServingUse {
  /** Called with the holder for each address. */
  readonly onHolder: (serving: CertificateHolder) => void
  /** Called with each certificate from which on the server is to use it. */
  readonly use: (pair: CertificateAndKey) => Promise<void> | void
}

/**
 * Keeps the kubelet's serving certificate good until the signal aborts. Another one is requested when the machine's address
 * changes; the former one is used until then.
 */
export async function keepServing(
  { identity, nodeName, directory, address }: ServingParts,
  { onHolder, use }: ServingUse,
  context: RoleContext,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    using moved = linkedSignal(signal)
    using _changes = address.onChange(() => moved.abort(new Error('the address changed')))
    const names = { dnsNames: [nodeName], ipAddresses: [address.current] }
    try {
      const serving = await obtainServingCertificate(
        identity,
        { nodeName, directory, ...names },
        { ...context, signal: moved.signal },
      )
      onHolder(serving)
      await use(serving.current)
      using _renewed = serving.onRenewed((pair) => void use(pair))
      await serving.run(moved.signal)
    } catch (error) {
      if (signal.aborted || !moved.signal.aborted) throw error
    }
  }
  signal.throwIfAborted()
}
