import { asError, createBackoff } from '@skerry/base'
import type { ResourceRef } from '@skerry/client'
import {
  runController,
  type BackgroundController,
  type ControllerDefinition,
  type ControllerDeps,
} from '@skerry/controller-runtime'

/**
 * Runs a controller of a beta kind if the server has the kind, as upstream does if its feature gate
 * is on. The server is asked once, because its kinds are fixed when it starts.
 */
export function whenServed(
  resource: ResourceRef,
  controller: ControllerDefinition | BackgroundController,
): BackgroundController {
  return {
    name: controller.name,
    async run(deps, signal) {
      if (!(await isServed(resource, deps, signal))) {
        deps.log.debug('Controller not started: the server does not have its kind', {
          controller: controller.name,
          resource: resource.resource,
        })
        return
      }
      if ('run' in controller) await controller.run(deps, signal)
      else await runController(controller, deps, signal)
    },
  }
}

async function isServed(
  wanted: ResourceRef,
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const backoff = createBackoff({}, deps.random)
  for (;;) {
    try {
      const { resources } = await deps.cluster.discover(signal)
      return resources.some(
        ({ group, version, resource }) =>
          group === wanted.group && version === wanted.version && resource === wanted.resource,
      )
    } catch (error) {
      if (signal.aborted) throw signal.reason
      deps.log.debug('Server not asked for its kinds, trying again', {
        error: asError(error),
      })
      await deps.clock.sleep(backoff.nextMs(), signal)
    }
  }
}
