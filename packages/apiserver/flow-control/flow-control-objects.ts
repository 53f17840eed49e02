import { isDeepStrictEqual } from 'node:util'
import { isStatusError, type AnyObject, type FlowSchema, type GroupResource } from '@skerry/api'
import { asError, type Clock, type Logger } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import { apiTime } from '../contract/status-answers.ts'
import { listTyped } from '../contract/typed-objects.ts'
import table from './tables/flow-control-objects.json' with { type: 'json' }

const group = 'flowcontrol.apiserver.k8s.io'
export const flowSchemas: GroupResource = Object.freeze({ group, resource: 'flowschemas' })
export const priorityLevels: GroupResource = Object.freeze({
  group,
  resource: 'prioritylevelconfigurations',
})

/** Upstream's field manager. Ours takes over its conditions when a store moves here. */
const manager = 'api-priority-and-fairness-config-consumer-v1'
const autoUpdate = 'apf.kubernetes.io/autoupdate-spec'
/** The server cannot decide without these, so they are restored whatever users write. */
const mandatory = new Set(['exempt', 'catch-all'])

/**
 * Creates upstream's schemas and levels if they are missing, and updates those that users have not
 * changed.
 */
async function ensureFlowControlObjects(objects: Objects): Promise<void> {
  // The table is a copy of objects that upstream made.
  for (const wanted of table as unknown as readonly AnyObject[]) await ensureOne(objects, wanted)
}

async function ensureOne(objects: Objects, wanted: AnyObject): Promise<void> {
  const resource = wanted.kind === 'FlowSchema' ? flowSchemas : priorityLevels
  const { name = '' } = wanted.metadata
  const found = objects.get(resource, '', name)
  if (!found) {
    try {
      await objects.create(resource, structuredClone(wanted))
    } catch (error) {
      // Another server was faster.
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
    return
  }
  if (!mandatory.has(name) && !isLeftToUs(found)) return
  if (isDeepStrictEqual(specOf(found), specOf(wanted))) return
  await objects.update(resource, { namespace: '', name }, (object) => {
    Object.assign(object, { spec: structuredClone(wanted.spec) })
  })
}

function specOf(object: AnyObject): unknown {
  return structuredClone(object.spec)
}

/** The annotation decides. Without it, an object that nobody has changed is still ours. */
function isLeftToUs({ metadata }: AnyObject): boolean {
  const text = metadata.annotations?.[autoUpdate]
  return text === undefined ? metadata.generation === 1 : text === 'true'
}

/**
 * Keeps the objects up to date until the signal aborts. Looks only if one of them changed. A failed
 * write is repeated with the next look.
 */
export async function keepFlowControlObjects(
  objects: Objects,
  { clock, log, lookMs }: { clock: Clock; log: Logger; lookMs: number },
  signal: AbortSignal,
): Promise<void> {
  let seen = ''
  while (!signal.aborted) {
    const version = `${objects.version(flowSchemas)}/${objects.version(priorityLevels)}`
    try {
      if (version !== seen) {
        await ensureFlowControlObjects(objects)
        await reportDangling(objects, clock.now())
        seen = version
      }
    } catch (error) {
      if (signal.aborted) return
      log.info('Flow control objects not kept, trying again', {
        error: asError(error),
      })
    }
    await clock.sleep(lookMs, signal)
  }
}

/** Records in their status which schemas name a level that does not exist. */
async function reportDangling(objects: Objects, nowMs: number): Promise<void> {
  for (const { metadata, spec, status } of listTyped<FlowSchema>(objects, flowSchemas)) {
    const level = spec?.priorityLevelConfiguration.name ?? ''
    const isFound = objects.get(priorityLevels, '', level) !== undefined
    const condition = conditionOf(level, isFound)
    const known = status?.conditions?.find(({ type }) => type === 'Dangling')
    if (known?.status === condition.status && known.message === condition.message) continue
    const lastTransitionTime =
      known?.status === condition.status ? known.lastTransitionTime : apiTime(nowMs)
    const key = { namespace: '', name: metadata.name ?? '', subresource: 'status' }
    const next = { ...condition, ...(lastTransitionTime ? { lastTransitionTime } : {}) }
    await objects.apply(flowSchemas, key, { manager, fields: { status: { conditions: [next] } } })
  }
}

function conditionOf(level: string, isFound: boolean) {
  const start = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`
  return {
    type: 'Dangling',
    status: isFound ? 'False' : 'True',
    reason: isFound ? 'Found' : 'NotFound',
    message: `${start} ${isFound ? 'and it exists' : 'but there is no such object'}`,
  }
}
