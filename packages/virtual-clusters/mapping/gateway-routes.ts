import type { JsonObject } from '@skerry/api'
import { textAt } from '@skerry/fleet-kinds'
import { changeAt, ofObject } from './change-at.ts'
import type { MemberNames } from './member-names.ts'

/** Maps the namespaces from which a gateway accepts routes: "All" means all of its virtual cluster. */
export function mapAllowedRoutes(allowed: JsonObject, names: MemberNames): JsonObject {
  switch (textAt(allowed, 'from')) {
    case 'All':
      return { ...allowed, from: 'Selector', selector: names.namespaceSelector({}) }
    case 'Selector':
      return changeAt(allowed, 'selector', ofObject(names.namespaceSelector))
    default:
      return allowed
  }
}
