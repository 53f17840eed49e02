import type { ProgramOptions } from '../../program/program-for-machines.ts'
import { programAuthorizer, programRoutes } from '../../program/program-route.ts'
import type { SitePart } from '../contract/site-part.ts'

/** Gives the program to bare machines, which become nodes of this site by a copied line. */
export function program(options: ProgramOptions): SitePart {
  return {
    routes: ({ context }) => programRoutes(options, context),
    access: () => ({ authorizers: [programAuthorizer] }),
  }
}
