import { asError, RecentMap, type Clock } from '@skerry/base'
import type { Container, EphemeralContainer, Pod, Secret } from '@skerry/api'
import type { EventRecorder } from '@skerry/client'
import type { ContainerRuntime, Image } from '../cri/container-runtime.ts'
import { formatGoDuration } from '../pod/restart-backoff.ts'
import { StartError } from '../pod/start-error.ts'
import { containerEvent } from '../pod/container-event.ts'
import { parseImageReference, withDefaultTag } from './image-reference.ts'
import { pullCredentials } from './pull-credentials.ts'
import { Slots } from './slots.ts'
import { imagePullDefaults } from '../limits-table.ts'

export interface ImagePullerDeps {
  runtime: ContainerRuntime
  clock: Clock
  events: EventRecorder
  /** Called after a pull, before the image counts as present: its unpacked files must be on disk. */
  onPulled: (signal: AbortSignal) => Promise<void>
}

export interface ImageRequest {
  pod: Pod
  container: Container | EphemeralContainer
  pullSecrets: readonly Secret[]
}

interface Failure {
  delayMs: number
  failedAtMs: number
  message: string
}

/** Makes sure that an image is on the node, by the container's pull policy. */
export class ImagePuller {
  readonly #deps: ImagePullerDeps
  readonly #slots = new Slots(imagePullDefaults.parallelMax)
  /** Failures by pod uid and image. */
  readonly #failures = new RecentMap<string, Failure>(imagePullDefaults.failuresMax)

  constructor(deps: ImagePullerDeps) {
    this.#deps = deps
  }

  /** Throws StartError with kubelet's reasons. */
  async ensure(request: ImageRequest, signal: AbortSignal): Promise<Image> {
    const wanted = request.container.image ?? ''
    if (!parseImageReference(wanted)) {
      const message = `Failed to apply default image tag "${wanted}": couldn't parse image name "${wanted}": invalid reference format`
      this.#event(request, { type: 'Warning', reason: 'InspectFailed', message })
      throw new StartError('InvalidImageName', message)
    }
    const reference = withDefaultTag(wanted)
    const policy = request.container.imagePullPolicy ?? 'IfNotPresent'
    if (policy !== 'Always') {
      const present = await this.#status(request, reference, signal)
      if (present) return present
      if (policy === 'Never') throw this.#neverPulled(request, wanted)
    }
    return this.#pull(request, reference, signal)
  }

  async #status(
    request: ImageRequest,
    reference: string,
    signal: AbortSignal,
  ): Promise<Image | undefined> {
    try {
      const image = await this.#deps.runtime.imageStatus(reference, signal)
      if (image) {
        const message = `Container image "${request.container.image}" already present on machine and can be accessed by the pod`
        this.#event(request, { type: 'Normal', reason: 'Pulled', message })
      }
      return image
    } catch (cause) {
      signal.throwIfAborted()
      const message = `Failed to inspect image "${reference}": ${asError(cause).message}`
      this.#event(request, { type: 'Warning', reason: 'InspectFailed', message })
      throw new StartError('ImageInspectError', message, { cause })
    }
  }

  #neverPulled(request: ImageRequest, wanted: string): StartError {
    const message = `Container image "${wanted}" is not present with pull policy of Never`
    this.#event(request, { type: 'Warning', reason: 'ErrImageNeverPull', message })
    return new StartError('ErrImageNeverPull', message)
  }

  async #pull(request: ImageRequest, reference: string, signal: AbortSignal): Promise<Image> {
    const { clock } = this.#deps
    const image = request.container.image ?? ''
    const key = `${request.pod.metadata.uid}_${image}`
    const failure = this.#failures.get(key)
    const retryAfterMs = failure ? failure.failedAtMs + failure.delayMs - clock.monotonicMs() : 0
    if (failure && retryAfterMs > 0) {
      const message = `Back-off pulling image "${image}"`
      this.#event(request, { type: 'Normal', reason: 'BackOff', message })
      throw new StartError('ImagePullBackOff', `${message}: ${failure.message}`, { retryAfterMs })
    }
    this.#event(request, { type: 'Normal', reason: 'Pulling', message: `Pulling image "${image}"` })
    const askedAtMs = clock.monotonicMs()
    using _slot = await this.#slots.take(signal)
    const startedAtMs = clock.monotonicMs()
    try {
      await this.#pullWithAnyCredentials(request, reference, signal)
      const pulled = await this.#deps.runtime.imageStatus(reference, signal)
      if (!pulled) throw new Error(`image "${reference}" is not there after the pull`)
      this.#failures.delete(key)
      const nowMs = clock.monotonicMs()
      const pullTime = formatGoDuration(Math.round(nowMs - startedAtMs))
      const wholeTime = formatGoDuration(Math.round(nowMs - askedAtMs))
      const message = `Successfully pulled image "${image}" in ${pullTime} (${wholeTime} including waiting). Image size: ${pulled.size} bytes.`
      this.#event(request, { type: 'Normal', reason: 'Pulled', message })
      return pulled
    } catch (cause) {
      signal.throwIfAborted()
      throw this.#pullFailed(request, key, asError(cause))
    }
  }

  /** The last refusal is reported when none of the credentials will do. */
  async #pullWithAnyCredentials(
    request: ImageRequest,
    reference: string,
    signal: AbortSignal,
  ): Promise<void> {
    const candidates = [...pullCredentials(reference, request.pullSecrets)]
    for (const auth of candidates.length > 0 ? candidates : [undefined]) {
      try {
        await this.#deps.runtime.pullImage(reference, auth, signal)
        return await this.#deps.onPulled(signal)
      } catch (error) {
        signal.throwIfAborted()
        if (auth === candidates.at(-1)) throw error
      }
    }
  }

  #pullFailed(request: ImageRequest, key: string, cause: Error): StartError {
    const image = request.container.image ?? ''
    const before = this.#failures.get(key)
    const { backoffInitialMs, backoffMaxMs } = imagePullDefaults
    const delayMs = before ? Math.min(2 * before.delayMs, backoffMaxMs) : backoffInitialMs
    const failedAtMs = this.#deps.clock.monotonicMs()
    this.#failures.set(key, { delayMs, failedAtMs, message: `ErrImagePull: ${cause.message}` })
    const message = `Failed to pull image "${image}": ${cause.message}`
    this.#event(request, { type: 'Warning', reason: 'Failed', message })
    return new StartError('ErrImagePull', cause.message, { cause })
  }

  #event(
    { pod, container }: ImageRequest,
    text: { type: 'Normal' | 'Warning'; reason: string; message: string },
  ): void {
    containerEvent(this.#deps.events, pod, container.name, text)
  }
}
