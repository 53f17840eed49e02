import { abortReason, asError, createBackoff, runAll, unlessAborted, type Task } from '@skerry/base'
import type { KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import {
  runController,
  type BackgroundController,
  type ControllerDefinition,
  type ControllerDeps,
} from './controller.ts'
import { controllerRuntimeBounds } from './limits-table.ts'

export interface LateControllers {
  readonly name: string
  /** Nothing is loaded before one of these resources has an object. */
  readonly triggers: readonly TypedResource<KubeObject>[]
  /** Imports and creates the controllers. It is called again if it rejects. */
  readonly load: (
    deps: ControllerDeps,
    signal: AbortSignal,
  ) => Promise<readonly (ControllerDefinition | BackgroundController)[]>
}

/**
 * Starts controllers with the first object for them: many servers never have one, and need not hold their code and
 * watch their kinds. Objects that come or change while the code is loaded are seen as soon as it runs.
 */
export function lateControllers({ name, triggers, load }: LateControllers): BackgroundController {
  return {
    name,
    async run(deps, signal) {
      await untilAny(triggers, deps, signal)
      const controllers = await untilLoaded({ name, load }, deps, signal)
      deps.log.info('Controllers loaded', { controllers: name })
      await runAll(
        signal,
        controllers.map((each) => controllerTask(each, deps)),
      )
      signal.throwIfAborted()
    },
  }
}

export function controllerTask(
  controller: ControllerDefinition | BackgroundController,
  deps: ControllerDeps,
): Task {
  return (scope) =>
    'run' in controller ? controller.run(deps, scope) : runController(controller, deps, scope)
}

/** Resolves when one of these resources has an object. */
async function untilAny(
  wanted: readonly TypedResource<KubeObject>[],
  { informers }: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const found = Promise.withResolvers<void>()
  const onAbort = (): void => found.reject(abortReason(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  using subscriptions = new DisposableStack()
  for (const resource of wanted) {
    subscriptions.use(informers.informer(resource).onChange(() => found.resolve()))
  }
  try {
    signal.throwIfAborted()
    await found.promise
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** A file of the program that is missing or unreadable must not end the whole process. */
async function untilLoaded(
  { name, load }: Omit<LateControllers, 'triggers'>,
  deps: ControllerDeps,
  signal: AbortSignal,
): ReturnType<LateControllers['load']> {
  const backoff = createBackoff(controllerRuntimeBounds.lateControllers.retry, deps.random)
  for (;;) {
    try {
      return await unlessAborted(load(deps, signal), signal)
    } catch (error) {
      signal.throwIfAborted()
      const fields = { controllers: name, error: asError(error) }
      deps.log.error('Cannot load controllers, trying again', fields)
      await deps.clock.sleep(backoff.nextMs(), signal)
    }
  }
}
