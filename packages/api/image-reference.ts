import { apiBounds } from './limits-table.ts'

/** An image as overrides take it apart; parts that are empty are not there. */
export interface ImageReference {
  /** The registry, with its port if it names one. */
  readonly registry: string
  readonly repository: string
  readonly tag: string
  readonly digest: string
}

const { nameLengthMax } = apiBounds.imageReference
const tag = String.raw`[\w][\w.-]{0,127}`
const digest = String.raw`[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}`
const label = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)'
const host = String.raw`(?:${label}(?:\.${label})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const path = `${component}(?:/${component})*`

const reference = new RegExp(`^((?:${host}/)?${path})(?::(${tag}))?(?:@(${digest}))?$`)
const named = new RegExp(`^(?:${host}/)?(${path})$`)
const anchoredTag = new RegExp(`^${tag}$`)
const anchoredDigest = new RegExp(`^${digest}$`)

/** The number of hexadecimal digits of each digest algorithm of images. */
const digestLengths: Readonly<Record<string, number>> = Object.freeze({
  sha256: 64,
  sha384: 96,
  sha512: 128,
})

/**
 * The parts of an image. One with both a tag and a digest is read by its tag alone, as Karmada does.
 * Throws RangeError in the words of the distribution's grammar.
 */
export function parseImage(image: string): ImageReference {
  if (image === '') throw new RangeError('repository name must have at least one component')
  const match = reference.exec(image)
  if (match === null) throw new RangeError(whyUnreadable(image))
  const [, name = '', foundTag = '', foundDigest = ''] = match
  if ((named.exec(name)?.[1] ?? name).length > nameLengthMax) {
    throw new RangeError(`repository name must not be more than ${nameLengthMax} characters`)
  }
  if (foundDigest !== '') requireDigest(foundDigest)
  return { ...splitRegistry(name), tag: foundTag, digest: foundTag === '' ? foundDigest : '' }
}

export function printImage({
  registry,
  repository,
  tag: printedTag,
  digest: hash,
}: ImageReference) {
  const name = registry === '' ? repository : `${registry}/${repository}`
  if (printedTag !== '') return `${name}:${printedTag}`
  return hash === '' ? name : `${name}@${hash}`
}

/** Replaces the tag or the digest; text that can be neither changes nothing. */
export function withTagOrDigest(image: ImageReference, text: string): ImageReference {
  if (anchoredTag.test(text)) return { ...image, tag: text, digest: '' }
  return anchoredDigest.test(text) ? { ...image, tag: '', digest: text } : image
}

function whyUnreadable(image: string): string {
  return reference.test(image.toLowerCase())
    ? 'repository name must be lowercase'
    : 'invalid reference format'
}

function requireDigest(text: string): void {
  const [algorithm = '', hash = ''] = text.split(':')
  const length = digestLengths[algorithm]
  if (length === undefined) throw new RangeError('unsupported digest algorithm')
  if (hash.length !== length) throw new RangeError('invalid checksum digest length')
  if (!/^[a-f0-9]+$/.test(hash)) throw new RangeError('invalid checksum digest format')
}

/** Splits off the registry, which precedes the first slash only if it looks like a host. */
function splitRegistry(name: string): Pick<ImageReference, 'registry' | 'repository'> {
  const at = name.indexOf('/')
  const first = name.slice(0, Math.max(at, 0))
  if (!/[.:]/.test(first) && first !== 'localhost') return { registry: '', repository: name }
  return { registry: first, repository: name.slice(at + 1) }
}
