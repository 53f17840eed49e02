import { networkInterfaces } from 'node:os'
import type { ControllerDefinition } from '@skerry/controller-runtime'
import {
  departure,
  edgeClusterController,
  edgeJobClusterController,
  edgeJobController,
  importRemoval,
  importSteps,
  jobSteps,
  machinesOnly,
  removal,
  sshJumps,
  sshShells,
  steps,
} from '@skerry/provisioning'
import type { ProgramOptions } from '../../program/program-for-machines.ts'
import type { OpenHub } from '../contract/hub-part.ts'
import { hubSide } from './hub-side.ts'

/**
 * Returns the controllers that log in to machines, with everything that they do there: 240 kB of code. Only a hub with
 * an EdgeCluster or EdgeJob imports it.
 */
export function machineControllers(hub: OpenHub, options: ProgramOptions): ControllerDefinition[] {
  const { clock } = hub.context
  const deps = {
    hub: hubSide(hub, options),
    openShell: machinesOnly(sshShells({ clock }), { clock, ownAddresses }),
    openJump: machinesOnly(sshJumps({ clock }), { clock, ownAddresses }),
  }
  const imports = { steps: importSteps, removal: importRemoval }
  return [
    edgeClusterController({ steps, departure, removal, imports, ...deps }),
    edgeJobController(),
    edgeJobClusterController({ jobSteps, ...deps }),
  ]
}

/** Returns the addresses of this machine at the moment. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((links) =>
    (links ?? []).map(({ address }) => address),
  )
}
