import { isJsonObject } from '@skerry/api'
import { parseRequestInfo, type RequestInfo } from '@skerry/apiserver'
import { asError, createWakeFlag, withTimeout, type Clock, type Logger } from '@skerry/base'
import { readBody, type Transport } from '@skerry/client'
import type { CopyFile } from '../copies/copy-file.ts'
import { nodeApiBounds } from '../limits-table.ts'
import type { Link } from '../link/link.ts'
import { documentKey, type KeptDocument } from './kept-answers.ts'

const { refreshMs, retryMs, answerMs } = nodeApiBounds.discoveryDocuments
const { answerBytesMax } = nodeApiBounds.keepAnswer

export interface DiscoveryDocumentsDeps {
  readonly asNode: Transport
  readonly file: CopyFile
  readonly link: Link
  readonly clock: Clock
  readonly log: Logger
}

/** The form in which two documents name everything that is served; other clients ask for it in a list of several. */
const wholeForm = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const wholePaths = ['/api', '/apis'] as const

/**
 * Keeps the documents by which clients learn what is served, whether or not somebody has asked for them: a client that
 * starts while the control plane is away asks for them first, and waits for minutes if there are none.
 */
export class DiscoveryDocuments {
  readonly #deps: DiscoveryDocumentsDeps

  constructor(deps: DiscoveryDocumentsDeps) {
    this.#deps = deps
  }

  /** Returns a document in the form that the client wants, made from a whole one if need be. */
  find({ path }: RequestInfo, accept: string): KeptDocument | undefined {
    if (path === '/api' || path === '/apis') {
      return accept.replaceAll(' ', '').includes(wholeForm) ? this.#whole(path) : undefined
    }
    const isPlain = accept === '' || /application\/json(?!;)|\*\/\*/.test(accept)
    const [, prefix = '', group = '', version = ''] =
      /^\/(?:(api)|apis\/([^/]+))\/([^/]+)$/.exec(path) ?? []
    const whole = isPlain && version !== '' && this.#whole(prefix === '' ? '/apis' : '/api')
    if (!whole) return undefined
    const list = resourceList(JSON.parse(Buffer.from(whole.value).toString('utf8')), group, version)
    if (!list) return undefined
    const headers = { 'content-type': 'application/json' }
    return { headers, readAtMs: whole.readAtMs, value: Buffer.from(JSON.stringify(list)) }
  }

  /** Reads the documents when the control plane has answered, and from time to time. */
  async run(signal: AbortSignal): Promise<never> {
    const { link, clock, log } = this.#deps
    const wake = createWakeFlag()
    using _changes = link.onChange(() => wake.raise())
    let dueAtMs = -Infinity
    for (;;) {
      if (link.isUp && clock.monotonicMs() >= dueAtMs) {
        try {
          for (const path of wholePaths) await this.#read(path, signal)
          dueAtMs = clock.monotonicMs() + refreshMs
        } catch (error) {
          signal.throwIfAborted()
          log.debug('Discovery not read', { error: asError(error) })
          dueAtMs = clock.monotonicMs() + retryMs
        }
      }
      using _timer = clock.setTimer(retryMs, wake.raise)
      await wake.wait(signal)
    }
  }

  async #read(path: string, signal: AbortSignal): Promise<void> {
    const { asNode, clock, file } = this.#deps
    const limit = { ms: answerMs, message: 'no answer in time', clock }
    const request = { method: 'GET', path, headers: { accept: wholeForm } } as const
    await withTimeout(limit, signal, async (scope) => {
      const { status, headers, body } = await asNode.send(request, scope)
      const value = await readBody(body, answerBytesMax)
      const type = String(headers['content-type'] ?? '')
      // Older control planes have another form.
      if (status !== 200 || !type.includes('APIGroupDiscoveryList')) return
      const answer = { readAtMs: clock.now(), value }
      file.putDocument(keyOf(path), { 'content-type': type }, answer)
    })
  }

  #whole(path: string): KeptDocument | undefined {
    return this.#deps.file.document(keyOf(path))
  }
}

function keyOf(path: string): string {
  return documentKey(parseRequestInfo('GET', path), wholeForm)
}

interface WholeResource {
  readonly resource: string
  readonly responseKind?: {
    readonly group?: string
    readonly version?: string
    readonly kind: string
  }
  readonly scope: string
  readonly singularResource?: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly WholeSubresource[]
}

interface WholeSubresource {
  readonly subresource: string
  readonly responseKind?: {
    readonly group?: string
    readonly version?: string
    readonly kind: string
  }
  readonly verbs: readonly string[]
}

/** Makes an APIResourceList of one version from an APIGroupDiscoveryList. */
function resourceList(whole: unknown, group: string, version: string): object | undefined {
  const items = isJsonObject(whole) && Array.isArray(whole['items']) ? whole['items'] : []
  // The control plane made the document; its form is that of apidiscovery.k8s.io/v2.
  const groups = items as { metadata: { name?: string }; versions: WholeVersion[] }[]
  const found = groups
    .find(({ metadata }) => (metadata.name ?? '') === group)
    ?.versions.find((each) => each.version === version)
  if (!found) return undefined
  const resources = found.resources.flatMap((resource) => {
    const namespaced = resource.scope === 'Namespaced'
    const { shortNames, categories, singularResource: singularName = '' } = resource
    return [
      {
        name: resource.resource,
        singularName,
        namespaced,
        ...kindOf(resource.responseKind, group, version),
        verbs: resource.verbs,
        ...(shortNames ? { shortNames } : {}),
        ...(categories ? { categories } : {}),
      },
      ...(resource.subresources ?? []).map((part) => ({
        name: `${resource.resource}/${part.subresource}`,
        singularName: '',
        namespaced,
        ...kindOf(part.responseKind, group, version),
        verbs: part.verbs,
      })),
    ]
  })
  const list = { kind: 'APIResourceList', resources }
  if (group === '') return { ...list, groupVersion: version }
  return { ...list, apiVersion: 'v1', groupVersion: `${group}/${version}` }
}

interface WholeVersion {
  readonly version: string
  readonly resources: readonly WholeResource[]
}

/** A list omits group and version where they are its own. */
function kindOf(of: WholeResource['responseKind'], group: string, version: string): object {
  if (!of) return { kind: '' }
  const isOwn = !of.version || ((of.group ?? '') === group && of.version === version)
  return { kind: of.kind, ...(isOwn ? {} : { group: of.group ?? '', version: of.version ?? '' }) }
}
