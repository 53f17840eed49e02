import type { ProgramOptions } from '../../program/program-for-machines.ts'
import { programAuthorizer, programRoute } from '../../program/program-route.ts'
import type { HubPart } from '../contract/hub-part.ts'

/** Gives the program to bare machines, which become sites of this hub by a copied line. */
export function program(options: ProgramOptions): HubPart {
  return {
    routes: ({ context }) => [programRoute(options, context)],
    access: () => ({ authorizers: [programAuthorizer] }),
  }
}
