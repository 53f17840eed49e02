import { isStatusError, type KubeObject } from '@skerry/api'
import { createBackoff, type Clock, type Logger, type Random } from '@skerry/base'
import type { Cluster, EventSink, Informer, TypedResource } from '@skerry/client'
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
import { callInterpreterWebhook } from './webhook/call-interpreter-webhook.ts'
import { InterpreterWebhooks } from './webhook/interpreter-webhooks.ts'
import {
  webhookConfigurationResource,
  type WebhookConfiguration,
} from './webhook/webhook-configuration.ts'
import { WebhookInterpreter } from './webhook/webhook-interpreter.ts'

/** What people have taught; absent: nothing of that sort. */
export interface InterpreterSources {
  readonly customizations?: Source<Customization>
  readonly webhooks?: Source<WebhookConfiguration>
}

export interface Source<T extends KubeObject> extends Pick<Informer<T>, 'list' | 'onChange'> {
  /** Turns true once; a change that comes with that alone is not told. Absent: always true. */
  hasSynced?(): boolean
}

/**
 * Answers for every kind: by scripts of customizations first, then by webhooks, then by what is known of
 * others' kinds and of native ones. Follows the sources from now on.
 */
export function createInterpreter(
  { customizations, webhooks }: InterpreterSources,
  clock: LuaClock,
  onSuspended?: (suspension: Suspension) => void,
): ResourceInterpreter {
  const layers: ResourceInterpreter[] = []
  if (customizations) {
    const scripts = following(customizations, (list) => new CustomScripts(list))
    layers.push(lateLuaInterpreter(scripts, clock, onSuspended))
  }
  if (webhooks) {
    const known = following(webhooks, (list) => new InterpreterWebhooks(list))
    layers.push(new WebhookInterpreter(known, callInterpreterWebhook))
  }
  layers.push(thirdpartyInterpreter)
  return layeredInterpreter(layers, nativeInterpreter)
}

/**
 * The interpreter of a control plane as it is now, for whoever looks once and from elsewhere: webhooks are
 * not asked. Customizations that it has not, or does not show to this user, are left out.
 */
export async function localInterpreterOf(
  { hub, clock }: Pick<HubInterpreterDeps, 'hub'> & { readonly clock: LuaClock },
  signal: AbortSignal,
): Promise<ResourceInterpreter> {
  const items = await itemsOf(hub, signal)
  const customizations = { list: () => items, onChange: () => new DisposableStack() }
  return createInterpreter({ customizations }, clock)
}

async function itemsOf(hub: Cluster, signal: AbortSignal): Promise<readonly Customization[]> {
  try {
    return (await hub.resource(customizationResource).list({}, signal)).items
  } catch (error) {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return []
    throw error
  }
}

/** Made anew from all objects when it is asked for after a change. */
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
  readonly hub: Cluster
  readonly informers: InformerSet
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Where people are told of a customization that is suspended; if omitted, in the log alone. */
  readonly events?: EventSink
}

/**
 * The interpreter of a control plane, from its own objects, once it has said whether it has such. While
 * it has none, or does not show them to this user, the native kinds are left; it is asked again, at most
 * every minute. A health that a rule fails to tell is Unknown. Rejects with the signal's reason.
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
  const backoff = createBackoff({ initialMs: 500, maxMs: 30_000, jitter: 0.5 }, random)
  for (;;) {
    try {
      const { items } = await hub.resource(resource).list({}, signal)
      return seeded(informers.informer(resource), items)
    } catch (error) {
      signal.throwIfAborted()
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) {
        log.info('Interpreters are not to be had here yet', { resource: resource.resource })
        // Goes on asking by itself.
        return informers.informer(resource)
      }
    }
    await clock.sleep(backoff.nextMs(), signal)
  }
}

/** What is there already is in force until the informer knows more: nobody decides without it meanwhile. */
function seeded<T extends KubeObject>(informer: Informer<T>, items: readonly T[]): Source<T> {
  return {
    list: () => (informer.hasSynced() ? informer.list() : items),
    onChange: (listener) => informer.onChange(listener),
    hasSynced: () => informer.hasSynced(),
  }
}
