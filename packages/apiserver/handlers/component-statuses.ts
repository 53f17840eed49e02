import { encodeCanonical } from '@skerry/bodies'
import { StatusError, type AnyObject } from '@skerry/api'
import { CachedObject } from '../cache/cached-object.ts'
import { selects } from '../cache/selection.ts'
import type { ApiAnswer } from '../contract/exchange.ts'
import { listAnswer, objectAnswer } from './represent.ts'
import { parseListOptions } from './request-options.ts'
import { viewFor, type HandlerDeps, type ResourceCall } from './resource-call.ts'

/** Parts of the control plane that do not run in this process, and why they count as unhealthy. */
export type ComponentFaults = Readonly<Partial<Record<ComponentName, string>>>

type ComponentName = (typeof components)[number]

const components = ['scheduler', 'controller-manager', 'etcd-0'] as const
const utf8 = new TextEncoder()

/** Returns one or a list. ComponentStatus is never stored: each request computes it. */
export async function componentStatuses(
  call: ResourceCall,
  deps: HandlerDeps,
  faults: ComponentFaults,
): Promise<ApiAnswer> {
  const { info, reader } = call
  const view = viewFor(call, deps)
  const all = components.map((name) => statusOf(name, faults[name]))
  if (info.verb === 'list') {
    const { selection } = parseListOptions(info, reader.kind)
    const items = all.filter((item) => selects(selection, item, reader))
    return listAnswer({ items, revision: 0, isUnversioned: true }, view)
  }
  const found = all.find(({ key }) => key === info.name)
  if (found) return objectAnswer(200, found, view)
  throw new StatusError('NotFound', `componentstatus ${JSON.stringify(info.name)} not found`, {
    details: { name: info.name, kind: 'componentstatus' },
  })
}

function statusOf(name: ComponentName, fault: string | undefined): CachedObject {
  const status = fault === undefined ? 'True' : 'False'
  const object: AnyObject = {
    apiVersion: 'v1',
    kind: 'ComponentStatus',
    metadata: { name },
    conditions: [{ type: 'Healthy', status, message: fault ?? 'ok' }],
  }
  const value = utf8.encode(encodeCanonical(object))
  return new CachedObject(name, { value, revision: 0, createRevision: 0 })
}
