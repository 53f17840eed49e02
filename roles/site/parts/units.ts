import { join } from 'node:path'
import type { UnitActs } from '@skerry/edge-apps'
import type { SitePart } from '../contract/site-part.ts'
import { HandoverActs } from '../units/handover-acts.ts'
import type { UnitFence } from '../units/unit-fence.ts'
import type { UnitSettings } from '../units/unit-order.ts'
import { unitAuthorizer, unitRoute } from '../units/unit-route.ts'

export interface UnitsOptions {
  readonly dataDir: string
  readonly isShared: boolean
  readonly settings: UnitSettings
}

/** The part, and the acts for the controller of another one. */
export interface Units {
  readonly part: SitePart
  readonly fence: UnitFence
  readonly acts: (context: HandoverContext) => UnitActs & Pick<HandoverActs, 'lead'>
}

type HandoverContext = ConstructorParameters<typeof HandoverActs>[2]

/** Hands units of nodes over to control planes of their own, and takes them back. */
export function units({ dataDir, isShared, settings }: UnitsOptions, fence: UnitFence): Units {
  let made: HandoverActs | undefined
  const directory = join(dataDir, 'units')
  const acts = (context: HandoverContext): HandoverActs =>
    (made ??= new HandoverActs(fence, { directory, isShared, network: settings }, context))
  const part: SitePart = {
    routes: ({ context }) => [unitRoute(acts(context), settings)],
    access: () => ({ authorizers: [unitAuthorizer] }),
  }
  return { part, fence, acts }
}
