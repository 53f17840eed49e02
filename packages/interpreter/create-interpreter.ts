import { isStatusError, type KubeObject } from '@skerry/api'
import { createBackoff, type Clock, type Logger, type Random } from '@skerry/base'
import type { ClusterClient, EventSink, Informer, TypedResource } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import type { ResourceInterpreter } from './contract/resource-interpreter.ts'
import type { Suspension } from './custom/customization-budget.ts'
import { CustomScripts, customizationResource, type Customization } from './custom/customization.ts'
import { lateLuaInterpreter } from './custom/late-lua-interpreter.ts'
import type { LuaClock } from './custom/lua-interpreter.ts'
import { layeredInterpreter } from './layered-interpreter.ts'
import { nativeInterpreter } from './native/native-interpreter.ts'
import { thirdpartyInterpreter } from './thirdparty/thirdparty-interpreter.ts'
import { withUnknownHealth } from './unknown-health.ts'
import { createWebhookCaller } from './webhook/call-interpreter-webhook.ts'
import { InterpreterWebhooks } from './webhook/interpreter-webhooks.ts'
import {
  webhookConfigurationResource,
  type WebhookConfiguration,
} from './webhook/webhook-configuration.ts'
import { WebhookInterpreter } from './webhook/webhook-interpreter.ts'
import { interpreterBounds } from './limits-table.ts'

export type InterpreterClock = LuaClock & Pick<Clock, 'setTimer'>

/** The users' own rules. If omitted, there are none of that kind. */
export interface InterpreterSources {
  readonly customizations?: Source<Customization>
  readonly webhooks?: Source<WebhookConfiguration>
}

export interface Source<T extends KubeObject> extends Pick<Informer<T>, 'list' | 'onChange'> {
  /** Turns true once; that change alone triggers no event. If omitted, always true. */
  hasSynced?(): boolean
}

/**
 * Creates an interpreter for every kind: by scripts of customizations first, then by webhooks, then by the
 * built-in rules for third-party and native kinds. It follows the sources from now on.
 */
export function createInterpreter(
  { customizations, webhooks }: InterpreterSources,
  clock: InterpreterClock,
  onSuspended?: (suspension: Suspension) => void,
): ResourceInterpreter {
  const layers: ResourceInterpreter[] = []
  if (customizations) {
    const scripts = following(customizations, (list) => new CustomScripts(list))
    layers.push(lateLuaInterpreter(scripts, clock, onSuspended))
  }
  if (webhooks) {
    const known = following(webhooks, (list) => new InterpreterWebhooks(list))
    layers.push(new WebhookInterpreter(known, createWebhookCaller({ clock })))
  }
  layers.push(thirdpartyInterpreter)
  return layeredInterpreter(layers, nativeInterpreter)
}

/**
 * Creates the interpreter of a control plane as it is now, for a single look from elsewhere: webhooks are not
 * asked. Customizations are left out if the control plane lacks them or does not show them to this user.
 */
export async function localInterpreterOf(
  { hub, clock }: Pick<HubInterpreterDeps, 'hub'> & { readonly clock: InterpreterClock },
  signal: AbortSignal,
): Promise<ResourceInterpreter> {
  const items = await itemsOf(hub, signal)
  const customizations = { list: () => items, onChange: () => new DisposableStack() }
  return createInterpreter({ customizations }, clock)
}

async function itemsOf(hub: ClusterClient, signal: AbortSignal): Promise<readonly Customization[]> {
  try {
    return (await hub.resource(customizationResource).list({}, signal)).items
  } catch (error) {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return []
    throw error
  }
}

/** Rebuilds the result from all objects on first use after a change. */
function following<T extends KubeObject, Result>(
  source: Source<T>,
  make: (list: readonly T[]) => Result,
): () => Result {
  let made: { readonly result: Result; readonly hasSynced: boolean } | undefined
  source.onChange(() => {
    made = undefined
  })
  return () => {
    const hasSynced = source.hasSynced?.() ?? true
    if (made?.hasSynced !== hasSynced) made = { result: make(source.list()), hasSynced }
    return made.result
  }
}

export interface HubInterpreterDeps {
  readonly hub: ClusterClient
  readonly informers: InformerSet
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Receives events about a suspended customization. If omitted, only the log does. */
  readonly events?: EventSink
}

/**
 * Creates the interpreter of a control plane from its own objects, once it has reported whether it has any.
 * While it has none, or does not show them to this user, only built-in kinds are interpreted; the source is
 * read again, at most every minute. A health whose rule fails is Unknown. Rejects with the signal's reason.
 */
export async function interpreterOf(
  deps: HubInterpreterDeps,
  signal: AbortSignal,
): Promise<ResourceInterpreter> {
  const customizations = await sourceOf(customizationResource, deps, signal)
  const webhooks = await sourceOf(webhookConfigurationResource, deps, signal)
  const interpreter = createInterpreter(
    { customizations, webhooks },
    deps.clock,
    tellSuspended(deps),
  )
  return { ...interpreter, ...withUnknownHealth(interpreter, deps.log) }
}

function tellSuspended({ log, events }: HubInterpreterDeps): (suspension: Suspension) => void {
  const recorder = events?.recorder({ component: 'resource-interpreter' })
  return ({ customization: name, kind, why, forMs }) => {
    const seconds = Math.ceil(forMs / 1000)
    log.error('A customization is suspended', { customization: name, kind, why, seconds })
    const { group, version } = customizationResource
    const message = `Scripts for ${kind} are suspended for ${seconds} s: ${why}`
    recorder?.event(
      {
        apiVersion: `${group}/${version}`,
        kind: 'ResourceInterpreterCustomization',
        metadata: { name },
      },
      { type: 'Warning', reason: 'CustomizationSuspended', message },
    )
  }
}

async function sourceOf<T extends KubeObject>(
  resource: TypedResource<T>,
  { hub, informers, clock, random, log }: HubInterpreterDeps,
  signal: AbortSignal,
): Promise<Source<T>> {
  const backoff = createBackoff(interpreterBounds.createInterpreter.retry, random)
  for (;;) {
    try {
      const { items } = await hub.resource(resource).list({}, signal)
      return seeded(informers.informer(resource), items)
    } catch (error) {
      signal.throwIfAborted()
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) {
        log.info('Interpreters are not available here yet', { resource: resource.resource })
        // The informer continues to ask.
        return informers.informer(resource)
      }
    }
    await clock.sleep(backoff.nextMs(), signal)
  }
}

/** Uses the objects that were listed until the informer has synced, so that no decision ignores them. */
function seeded<T extends KubeObject>(informer: Informer<T>, items: readonly T[]): Source<T> {
  return {
    list: () => (informer.hasSynced() ? informer.list() : items),
    onChange: (listener) => informer.onChange(listener),
    hasSynced: () => informer.hasSynced(),
  }
}
