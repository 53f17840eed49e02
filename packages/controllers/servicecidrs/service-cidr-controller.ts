import type { Condition, ServiceCIDR } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { timestamp } from '../status/timestamp.ts'
import { cidrsWith, mayGo, overlapping } from './cidr-plan.ts'
import { controllerBounds } from '../limits-table.ts'

const finalizer = 'networking.k8s.io/service-cidr-finalizer'

const { graceMs } = controllerBounds.serviceCidrController

/** Reports that a range of service addresses is ready, and protects it while services use it. */
export const serviceCidrController: ControllerDefinition = {
  name: 'service-cidr-controller',
  watches: [
    watch(resources.serviceCIDRs, {
      keysOf: ({ object }, context) => [
        keyOfObject(object),
        ...overlapping(context.informer(resources.serviceCIDRs).list(), object),
      ],
    }),
    watch(resources.ipAddresses, {
      keysOf: ({ type, object }, context) =>
        type === 'updated'
          ? []
          : cidrsWith(context.informer(resources.serviceCIDRs).list(), object.metadata.name ?? ''),
    }),
  ],
  reconcile,
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const cidrs = context.informer(resources.serviceCIDRs)
  const cidr = cidrs.get(parseKey(key))
  if (cidr === undefined) return
  if (cidr.metadata.deletionTimestamp === undefined) {
    await writeFinalizers(cidr, { isKept: true }, context, signal)
    return writeCondition(cidrs.get(parseKey(key)) ?? cidr, readyCondition, context, signal)
  }
  if (!mayGo(cidr, cidrs.list(), context.informer(resources.ipAddresses).list())) {
    return writeCondition(cidr, usedCondition, context, signal)
  }
  const leftMs = Date.parse(cidr.metadata.deletionTimestamp) + graceMs - context.clock.now()
  if (leftMs > 0) return { requeueAfterMs: leftMs }
  await writeFinalizers(cidr, { isKept: false }, context, signal)
}

type ConditionText = Pick<Condition, 'status' | 'reason' | 'message'>

const readyCondition: ConditionText = {
  status: 'True',
  reason: '',
  message: 'Kubernetes Service CIDR is ready',
}

const usedCondition: ConditionText = {
  status: 'False',
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
}

async function writeFinalizers(
  cidr: ServiceCIDR,
  { isKept }: { isKept: boolean },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { finalizers = [] } = cidr.metadata
  if (finalizers.includes(finalizer) === isKept) return
  const others = finalizers.filter((each) => each !== finalizer)
  const metadata = { ...cidr.metadata, finalizers: isKept ? [...others, finalizer] : others }
  const client = context.client(resources.serviceCIDRs)
  await ignoreNotFound(client.update({ ...cidr, metadata }, signal))
}

async function writeCondition(
  cidr: ServiceCIDR,
  text: ConditionText,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const known = (cidr.status?.conditions ?? []).find(({ type }) => type === 'Ready')
  if (known?.status === text.status && known.message === text.message) return
  const lastTransitionTime =
    known?.status === text.status ? known.lastTransitionTime : timestamp(context.clock.now())
  const others = (cidr.status?.conditions ?? []).filter(({ type }) => type !== 'Ready')
  const status = { conditions: [...others, { type: 'Ready', ...text, lastTransitionTime }] }
  const client = context.client(resources.serviceCIDRs)
  await ignoreNotFound(client.updateStatus({ ...cidr, status }, signal))
}
