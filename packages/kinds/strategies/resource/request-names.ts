import { fieldInvalid, type DeviceClaim } from '@skerry/api'
import { checkLabelField, type Found } from '../checks.ts'
import type { Loose } from '../typed-strategy.ts'
import { checkDistinct, checkList } from './list-checks.ts'
import { kindsBounds } from '../../limits-table.ts'

/** Maps each request to the names of its alternatives. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>

const { requestsMax } = kindsBounds.requestNames

export function requestNamesOf({ requests }: Loose<DeviceClaim>): RequestNames {
  return new Map(
    (requests ?? []).map(({ name = '', firstAvailable = [] }) => [
      name,
      new Set(firstAvailable.map((alternative) => alternative.name ?? '')),
    ]),
  )
}

/** Checks `request` or `request/alternative`. */
export function checkRequestRef(
  ref: string,
  names: RequestNames,
  field: string,
  found: Found,
): void {
  const detail =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
  const [request = '', alternative, ...more] = ref.split('/')
  if (more.length > 0) {
    found.push(fieldInvalid(field, ref, detail))
    return
  }
  checkLabelField(request, field, found)
  if (alternative !== undefined) checkLabelField(alternative, field, found)
  const alternatives = names.get(request)
  const isKnown = alternative === undefined ? alternatives : alternatives?.has(alternative)
  if (!isKnown) found.push(fieldInvalid(field, ref, detail))
}

export function checkRequestRefs(
  refs: readonly string[],
  names: RequestNames,
  path: string,
  found: Found,
): void {
  const isShort = checkList(refs, { field: path, max: requestsMax }, found, (ref, field) =>
    checkRequestRef(ref, names, field, found),
  )
  if (isShort) checkDistinct(refs, path, found, (ref) => ref)
}
