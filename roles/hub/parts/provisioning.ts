import { networkInterfaces } from 'node:os'
import {
  edgeClusterController,
  edgeClusterKind,
  importRemoval,
  importSteps,
  machinesOnly,
  removal,
  sshJumps,
  sshShells,
  steps,
} from '@skerry/provisioning'
import { version } from '../../runtime/version.ts'
import type { HubPart } from '../contract/hub-part.ts'
import { hubSide } from '../provisioning/hub-side.ts'
import type { ProgramOptions } from '../../program/program-for-machines.ts'

/** Makes edge clusters of machines with SSH, and takes them away. */
export function provisioning(options: ProgramOptions): HubPart {
  return {
    kinds: (builtin) => [edgeClusterKind(builtin, [version])],
    controllers: (hub) => [
      edgeClusterController({
        steps,
        removal,
        hub: hubSide(hub, options),
        imports: { steps: importSteps, removal: importRemoval },
        openShell: machinesOnly(sshShells(hub.context), { ownAddresses }),
        openJump: machinesOnly(sshJumps(hub.context), { ownAddresses }),
      }),
    ],
  }
}

/** Returns the addresses of this machine at the moment. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((links) =>
    (links ?? []).map(({ address }) => address),
  )
}
