import type { Lease } from '@skerry/api'
import { resources } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import { serviceBalancer } from '@skerry/service-proxy'
import { controllerBounds } from '../limits-table.ts'

const { leaseNamespace, addressLabel, serviceAnnotation } = serviceBalancer

/** The lease of one address, which records the service that has it and the node that announces it. */
export interface AddressLease {
  readonly address: string
  readonly service: string
  readonly holder: string | undefined
}

const { leaseDurationSeconds } = controllerBounds.addressLeases

export function isAddressLease({ metadata: { namespace, labels } }: Lease): boolean {
  return namespace === leaseNamespace && labels?.[addressLabel] !== undefined
}

export function readAddressLease({ metadata, spec }: Lease): AddressLease {
  return {
    address: metadata.labels?.[addressLabel] ?? '',
    service: metadata.annotations?.[serviceAnnotation] ?? '',
    holder: spec?.holderIdentity || undefined,
  }
}

/** Creates, changes or deletes a lease, so that it is as planned; undefined deletes it. */
export async function writeAddressLease(
  known: Lease | undefined,
  planned: AddressLease | undefined,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const leases = context.client(resources.leases)
  if (planned === undefined) {
    if (known === undefined) return
    const { namespace, name = '', uid, resourceVersion } = known.metadata
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
    await leases.delete({ ...(namespace && { namespace }), name, preconditions }, signal)
    return
  }
  if (known === undefined) {
    // If another one has made it since, this fails: an address has one record.
    await leases.create(leaseOf(planned, context.clock.now(), undefined), signal)
    return
  }
  const now = readAddressLease(known)
  if (now.service === planned.service && now.holder === planned.holder) return
  await leases.update(leaseOf(planned, context.clock.now(), known), signal)
}

function leaseOf(planned: AddressLease, nowMs: number, known: Lease | undefined): Lease {
  const { address, service, holder } = planned
  const time = new Date(nowMs).toISOString().replace('Z', '000Z')
  const isSame = known !== undefined && readAddressLease(known).holder === holder
  const transitions = known?.spec?.leaseTransitions ?? -1
  const held = {
    holderIdentity: holder ?? '',
    leaseDurationSeconds,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: transitions + 1,
  }
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      ...(known?.metadata ?? { namespace: leaseNamespace, name: `service-address-${address}` }),
      labels: { ...known?.metadata.labels, [addressLabel]: address },
      annotations: { ...known?.metadata.annotations, [serviceAnnotation]: service },
    },
    spec: isSame ? { ...known.spec } : held,
  }
}
