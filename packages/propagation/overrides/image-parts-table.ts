import type { ImageOverrider } from '@skerry/karmada-kinds'
import { withTagOrDigest, type ImageReference } from './image-reference.ts'

interface ImagePart {
  readonly get: (image: ImageReference) => string
  readonly set: (image: ImageReference, text: string) => ImageReference
  readonly remove: (image: ImageReference) => ImageReference
}

/** The parts of an image that policies name. A tag and a digest never occur together. */
export const imageParts: Readonly<Record<ImageOverrider['component'], ImagePart>> = Object.freeze({
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
