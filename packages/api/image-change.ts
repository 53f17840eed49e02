import { parseImage, printImage, withTagOrDigest, type ImageReference } from './image-reference.ts'

/** A change of one part of an image's name, as overrides of several systems spell it. */
export interface ImageChange {
  readonly component: 'Registry' | 'Repository' | 'Tag'
  readonly operator: 'add' | 'remove' | 'replace'
  readonly value?: string
}

/** Returns the image with one part changed. Throws RangeError for a text that is not an image. */
export function changeImage(
  image: string,
  { component, operator, value = '' }: ImageChange,
): string {
  const part = imageParts[component]
  const parsed = parseImage(image)
  switch (operator) {
    case 'add':
      return printImage(part.set(parsed, part.get(parsed) + value))
    case 'replace':
      return printImage(part.set(parsed, value))
    case 'remove':
      return printImage(part.remove(parsed))
  }
}

interface ImagePart {
  readonly get: (image: ImageReference) => string
  readonly set: (image: ImageReference, text: string) => ImageReference
  readonly remove: (image: ImageReference) => ImageReference
}

/** A tag and a digest never occur together. */
const imageParts: Readonly<Record<ImageChange['component'], ImagePart>> = Object.freeze({
  Registry: {
    get: (image) => image.registry,
    set: (image, registry) => ({ ...image, registry }),
    remove: (image) => ({ ...image, registry: '' }),
  },
  Repository: {
    get: (image) => image.repository,
    set: (image, repository) => ({ ...image, repository }),
    remove: (image) => ({ ...image, repository: '' }),
  },
  Tag: {
    get: (image) => image.tag || image.digest,
    set: withTagOrDigest,
    remove: (image) => ({ ...image, tag: '', digest: '' }),
  },
})
