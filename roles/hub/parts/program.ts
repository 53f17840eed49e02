import type { ProgramOptions } from '../../program/program-for-machines.ts'
import { programAuthorizer, programRoutes } from '../../program/program-route.ts'
import type { HubPart } from '../contract/hub-part.ts'

/** Gives the program to bare machines, which become sites of this hub by a copied line. */
export function program(options: ProgramOptions): HubPart {
  return {
    routes: ({ context }) => programRoutes(options, context),
    access: () => ({ authorizers: [programAuthorizer] }),
  }
}
