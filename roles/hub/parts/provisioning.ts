import { lateControllers } from '@skerry/controller-runtime'
import {
  edgeClusterKind,
  edgeClusterResource,
  edgeJobKinds,
  edgeJobResource,
} from '@skerry/provisioning'
import { version } from '../../runtime/version.ts'
import type { HubPart } from '../contract/hub-part.ts'
import { followVersions } from '../provisioning/follow-versions.ts'
import { listPrograms } from '../provisioning/list-programs.ts'
import { edgeClusterClaimController } from '../provisioning/edge-cluster-claim-controller.ts'
import type { ProgramOptions } from '../../program/program-for-machines.ts'

/** Makes edge clusters of machines with SSH, and takes them away. */
export function provisioning(options: ProgramOptions): HubPart {
  const offered = new Set([version])
  const versions = (): readonly string[] => [...offered]
  return {
    kinds: (builtin) => [edgeClusterKind(builtin, versions), ...edgeJobKinds(builtin, versions)],
    // Machines are cleaned with the logins in Secrets of the namespace, and people skip steps with their roles there.
    endFirst: [edgeClusterResource],
    tasks: async ({ context }) => [
      (signal) => followVersions(options, offered, { ...context, signal }),
    ],
    controllers: (hub) => [
      edgeClusterClaimController,
      listPrograms(options),
      lateControllers({
        name: 'provisioning',
        triggers: [edgeClusterResource, edgeJobResource],
        async load() {
          const { machineControllers } = await import('../provisioning/machine-controllers.ts')
          return machineControllers(hub, options)
        },
      }),
    ],
  }
}
