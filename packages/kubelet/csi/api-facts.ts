import { createHash } from 'node:crypto'
import { isStatusError, StatusError, type CSIDriverSpec, type Node } from '@skerry/api'
import { asError, withTimeout, type Clock } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import { csiDefaults } from '../limits-table.ts'
import { VolumeError } from '../volumes/volume.ts'
import type { CsiVolume } from './describe-volume.ts'

const { requestTimeoutMs, attachTimeoutMs, attachPollMs } = csiDefaults

interface ApiFactsDeps {
  cluster: ClusterClient
  clock: Clock
  nodeName: string
}

/** The answer of an API that may be away. */
type Asked<T> = { readonly isAway: false; readonly answer: T } | { readonly isAway: true }

/** Asks the API about drivers and attachments. Without the API, what a record holds counts. */
export class ApiFacts {
  readonly #deps: ApiFactsDeps
  readonly #policies = new Map<string, CSIDriverSpec | undefined>()

  constructor(deps: ApiFactsDeps) {
    this.#deps = deps
  }

  /** Returns the spec of the CSIDriver object, undefined if there is none. Without the API, the last one known. */
  async policyOf(
    driver: string,
    recorded: { policy: CSIDriverSpec | undefined } | undefined,
    signal: AbortSignal,
  ): Promise<CSIDriverSpec | undefined> {
    const { cluster } = this.#deps
    const asked = await this.#ask(signal, async (scope) => {
      try {
        return (await cluster.resource(resources.csiDrivers).get({ name: driver }, scope)).spec
      } catch (error) {
        if (isStatusError(error, 'NotFound')) return undefined
        throw error
      }
    })
    if (!asked.isAway) {
      this.#policies.set(driver, asked.answer)
      return asked.answer
    }
    if (this.#policies.has(driver)) return this.#policies.get(driver)
    if (recorded) return recorded.policy
    throw new VolumeError(`cannot learn what driver ${driver} needs: the API does not answer`)
  }

  /**
   * Waits until the volume is attached, and returns the driver's words about that. The order matters: the node must
   * first be seen to say that it uses the volume, or the controller could detach it at that moment.
   */
  async attachment(
    volume: CsiVolume,
    recorded: Readonly<Record<string, string>> | undefined,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>>> {
    const { clock } = this.#deps
    const endMs = clock.monotonicMs() + attachTimeoutMs
    for (;;) {
      const asked = await this.#ask(signal, (scope) => this.#look(volume, scope))
      if (asked.isAway) {
        if (recorded) return recorded
        throw new VolumeError(
          `volume ${volume.volumeHandle} may not be attached: the API does not answer`,
        )
      }
      if (asked.answer.publishContext) return asked.answer.publishContext
      if (clock.monotonicMs() >= endMs) {
        const { fault = '' } = asked.answer
        const cause = fault === '' ? '' : `: ${fault}`
        throw new VolumeError(
          `timed out waiting for external-attacher of ${volume.driverName} CSI driver to attach volume ${volume.volumeHandle}${cause}`,
        )
      }
      await clock.sleep(attachPollMs, signal)
    }
  }

  async #look(volume: CsiVolume, signal: AbortSignal): Promise<AttachmentLook> {
    const { cluster, nodeName } = this.#deps
    const node = await cluster.resource(resources.nodes).get({ name: nodeName }, signal)
    if (!isUsedAndAttached(node, volume.uniqueName)) return {}
    const name = attachmentName(volume, nodeName)
    try {
      const { status, metadata } = await cluster
        .resource(resources.volumeAttachments)
        .get({ name }, signal)
      if (metadata.deletionTimestamp !== undefined) return { fault: 'it is being detached' }
      if (status?.attached) return { publishContext: status.attachmentMetadata ?? {} }
      return { fault: status?.attachError?.message ?? '' }
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return {}
      throw error
    }
  }

  /** A refusal of the API is thrown; silence is an answer. */
  async #ask<T>(signal: AbortSignal, ask: (scope: AbortSignal) => Promise<T>): Promise<Asked<T>> {
    const { clock } = this.#deps
    const message = 'no answer from the API in time'
    try {
      const answer = await withTimeout({ ms: requestTimeoutMs, message, clock }, signal, ask)
      return { isAway: false, answer }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof StatusError && !isPassing(error)) {
        throw new VolumeError(asError(error).message, { cause: error })
      }
      return { isAway: true }
    }
  }
}

interface AttachmentLook {
  publishContext?: Readonly<Record<string, string>>
  fault?: string
}

/** An API server that starts, or is in the way of one, counts as away. */
function isPassing(error: StatusError): boolean {
  return error.code >= 500 || error.code === 429
}

function isUsedAndAttached({ status }: Node, name: string): boolean {
  const isAttached = (status?.volumesAttached ?? []).some((volume) => volume.name === name)
  return isAttached && (status?.volumesInUse ?? []).includes(name)
}

/** The attach-detach controller and external-attacher compute the same name. */
function attachmentName({ volumeHandle, driverName }: CsiVolume, nodeName: string): string {
  const hash = createHash('sha256').update(`${volumeHandle}${driverName}${nodeName}`)
  return `csi-${hash.digest('hex')}`
}
