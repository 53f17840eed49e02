import { networkInterfaces } from 'node:os'
import {
  departure,
  edgeClusterController,
  edgeClusterKind,
  edgeJobClusterController,
  edgeJobController,
  edgeJobKinds,
  importRemoval,
  importSteps,
  jobSteps,
  machinesOnly,
  removal,
  sshJumps,
  sshShells,
  steps,
} from '@skerry/provisioning'
import { version } from '../../runtime/version.ts'
import type { HubPart } from '../contract/hub-part.ts'
import { followVersions } from '../provisioning/follow-versions.ts'
import { listPrograms } from '../provisioning/list-programs.ts'
import { edgeClusterClaimController } from '../provisioning/edge-cluster-claim-controller.ts'
import { hubSide } from '../provisioning/hub-side.ts'
import type { ProgramOptions } from '../../program/program-for-machines.ts'

/** Makes edge clusters of machines with SSH, and takes them away. */
export function provisioning(options: ProgramOptions): HubPart {
  const offered = new Set([version])
  return {
    kinds: (builtin) => [edgeClusterKind(builtin, () => [...offered]), ...edgeJobKinds(builtin)],
    tasks: async ({ context }) => [
      (signal) => followVersions(options, offered, { ...context, signal }),
    ],
    controllers(hub) {
      const deps = {
        hub: hubSide(hub, options),
        openShell: machinesOnly(sshShells(hub.context), { ownAddresses }),
        openJump: machinesOnly(sshJumps(hub.context), { ownAddresses }),
      }
      const imports = { steps: importSteps, removal: importRemoval }
      return [
        edgeClusterController({ steps, departure, removal, imports, ...deps }),
        edgeClusterClaimController,
        edgeJobController(),
        edgeJobClusterController({ jobSteps, ...deps }),
        listPrograms(options),
      ]
    },
  }
}

/** Returns the addresses of this machine at the moment. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((links) =>
    (links ?? []).map(({ address }) => address),
  )
}
