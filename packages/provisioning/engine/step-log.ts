import type { KubeObject } from '@skerry/api'
import { ifThere, resources } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import { type StepStatus, stepLogName } from '../kind/edge-cluster.ts'
import { provisioningBounds } from '../limits-table.ts'

interface LogOwner {
  readonly kind: string
  readonly labelsOf: (step: StepStatus) => Record<string, string>
}

/** Returns a function that adds an attempt to the log of a step: a ConfigMap that goes with its owner. */
export function keepStepLog(
  edge: KubeObject,
  { cluster }: ControllerContext,
  signal: AbortSignal,
  { kind, labelsOf } = edgeClusterLog(edge),
): (step: StepStatus, text: string) => Promise<void> {
  const configMaps = cluster.resource(resources.configMaps)
  const { namespace = '', name: edgeName = '', uid = '' } = edge.metadata
  return async (step, text) => {
    const name = stepLogName(edgeName, step)
    const known = await ifThere(configMaps.get({ namespace, name }, signal))
    const isOurs = known?.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true
    // A person who may write EdgeClusters may not change every ConfigMap of the namespace.
    if (known !== undefined && !isOurs) throw new Error(`ConfigMap ${name} is not of this cluster`)
    const head = `--- attempt ${step.attempt ?? 1}, ${step.startTime ?? ''} to ${step.finishTime ?? ''}: ${step.state}\n`
    const log = `${known?.data?.['log'] ?? ''}${head}${text}`
    const data = { log: log.slice(-provisioningBounds.engine.logBytesMax) }
    if (known !== undefined) {
      await configMaps.patch({ namespace, name, type: 'merge', patch: { data } }, signal)
      return
    }
    const owner = { apiVersion: 'hub.skerry.io/v1alpha1', kind, name: edgeName, uid }
    const metadata = { namespace, name, labels: labelsOf(step), ownerReferences: [owner] }
    await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, signal)
  }
}

function edgeClusterLog({ metadata }: KubeObject): LogOwner {
  const { name = '' } = metadata
  return {
    kind: 'EdgeCluster',
    labelsOf: (step) => ({ 'hub.skerry.io/edge-cluster': name, 'hub.skerry.io/step': step.name }),
  }
}
