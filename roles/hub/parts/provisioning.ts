import { networkInterfaces } from 'node:os'
import {
  departure,
  edgeClusterController,
  edgeClusterKind,
  machinesOnly,
  removal,
  sshShells,
  steps,
} from '@skerry/provisioning'
import { version } from '../../runtime/version.ts'
import type { HubPart } from '../contract/hub-part.ts'
import { edgeClusterClaimController } from '../provisioning/edge-cluster-claim-controller.ts'
import { hubSide } from '../provisioning/hub-side.ts'
import type { ProgramOptions } from '../provisioning/program-for-machines.ts'

/** Makes edge clusters of machines with SSH, and takes them away. */
export function provisioning(options: ProgramOptions): HubPart {
  return {
    kinds: (builtin) => [edgeClusterKind(builtin, [version])],
    controllers: (hub) => [
      edgeClusterController({
        steps,
        departure,
        removal,
        hub: hubSide(hub, options),
        openShell: machinesOnly(sshShells({ clock: hub.context.clock }), { ownAddresses }),
      }),
      edgeClusterClaimController,
    ],
  }
}

/** Returns the addresses of this machine at the moment. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((links) =>
    (links ?? []).map(({ address }) => address),
  )
}
