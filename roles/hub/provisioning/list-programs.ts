import { isStatusError, type ConfigMap } from '@skerry/api'
import { messageOf } from '@skerry/base'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import type { BackgroundController } from '@skerry/controller-runtime'
import { programsListKey } from '../../admin/programs-list.ts'
import { hubBounds } from '../limits-table.ts'
import { heldPrograms, type ProgramOptions } from '../../program/program-for-machines.ts'

/** Keeps the list of programs that this hub holds for machines, where users of its API can read it. */
export function listPrograms(options: ProgramOptions): BackgroundController {
  return {
    name: 'machine-programs-publisher',
    async run({ cluster, clock, log }, signal) {
      for (;;) {
        try {
          await publish(cluster, options, signal)
        } catch (error) {
          signal.throwIfAborted()
          log.error('Cannot list programs for machines', { problem: messageOf(error) })
        }
        await clock.sleep(hubBounds.hubSide.listProgramsMs, signal)
      }
    },
  }
}

async function publish(
  cluster: ClusterClient,
  options: ProgramOptions,
  signal: AbortSignal,
): Promise<void> {
  const held = await heldPrograms(options, signal)
  const list = held.map(({ architecture, version }) => ({ architecture, version }))
  const data = { programs: JSON.stringify(list) }
  const configMaps = cluster.resource(resources.configMaps)
  const known = await ifThere(configMaps.get(programsListKey, signal))
  if (known?.data?.['programs'] === data.programs) return
  if (known !== undefined) {
    await configMaps.patch({ ...programsListKey, type: 'merge', patch: { data } }, signal)
    return
  }
  const made: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: programsListKey, data }
  try {
    await configMaps.create(made, signal)
  } catch (error) {
    // Another replica was first; the next look compares.
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}
