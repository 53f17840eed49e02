import { ifThere, resources } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import { type EdgeCluster, type StepStatus, stepLogName } from '../kind/edge-cluster.ts'
import { provisioningBounds } from '../limits-table.ts'

/** Returns a function that adds an attempt to the log of a step: a ConfigMap that goes with the EdgeCluster. */
export function keepStepLog(
  edge: EdgeCluster,
  { cluster }: ControllerContext,
  signal: AbortSignal,
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
    const owner = { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster', name: edgeName, uid }
    const labels = { 'hub.skerry.io/edge-cluster': edgeName, 'hub.skerry.io/step': step.name }
    const metadata = { namespace, name, labels, ownerReferences: [owner] }
    await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, signal)
  }
}
