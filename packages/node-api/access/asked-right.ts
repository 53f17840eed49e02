import type { UserInfo, RequestInfo } from '@skerry/apiserver'

/** The parts of a request on which rights depend. */
export interface AskedRight {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  /** The selectors as given: some authorizers give a right to a selection only. */
  readonly labelSelector: string
  readonly fieldSelector: string
  /** Set for requests that name no resource; the other fields are then empty. */
  readonly path: string
  /** If omitted, the object itself. */
  readonly subresource?: string
}

export function askedRight(info: RequestInfo): AskedRight {
  if (!info.isResourceRequest) {
    const nothing = { group: '', resource: '', namespace: '', name: '' }
    return { verb: info.verb, ...nothing, ...noSelectors, path: info.path }
  }
  const { group, resource } = info.resource
  const { verb, namespace, name } = info
  const labelSelector = info.query.get('labelSelector') ?? ''
  const fieldSelector = info.query.get('fieldSelector') ?? ''
  const right = { verb, group, resource, namespace, name, labelSelector, fieldSelector, path: '' }
  return info.subresource === '' ? right : { ...right, subresource: info.subresource }
}

const noSelectors = Object.freeze({ labelSelector: '', fieldSelector: '' })

/** Returns a text that is the same for the same user and right only. */
export function rightKey(user: UserInfo, right: AskedRight): string {
  const { verb, group, resource, namespace, name, labelSelector, fieldSelector, path } = right
  const selectors = [labelSelector, fieldSelector]
  const who = [user.name, ...user.groups.toSorted()]
  // Keys of the disk end without a subresource where there is none.
  const part = right.subresource ? [right.subresource] : []
  return JSON.stringify([who, verb, group, resource, namespace, name, ...selectors, path, ...part])
}

export function parseRightKey(key: string): AskedRight {
  // Only rightKey makes these texts.
  const [, verb, group, resource, namespace, name, labelSelector, fieldSelector, path, part] =
    JSON.parse(key) as [
      unknown,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string?,
    ]
  const right = { verb, group, resource, namespace, name, labelSelector, fieldSelector, path }
  return part === undefined ? right : { ...right, subresource: part }
}

/** Returns the rights of which each contains this one, itself first. */
export function sufficientRights(right: AskedRight): readonly AskedRight[] {
  if (right.path !== '') return [right]
  const all = [right]
  const whole = { ...right, ...noSelectors }
  const isSelected = right.labelSelector !== '' || right.fieldSelector !== ''
  if (isSelected) all.push(whole)
  // The right to read all objects of a namespace contains each of them, and likewise for all namespaces.
  if (right.name !== '') all.push({ ...whole, name: '' })
  if (right.namespace !== '') all.push({ ...whole, namespace: '', name: '' })
  return all
}
