import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { manifestObjects, type ManifestObject } from '@skerry/manifests'

const manifestsSchema = z.array(z.object({ name: z.string(), text: z.string() }))

/**
 * Reads a JSON file of named texts and returns the objects in them, namespaces and definitions of kinds first.
 * Rejects with an ExpectedError that names the text and the document.
 */
export async function readManifests(path: string, objectsMax: number): Promise<ManifestObject[]> {
  return manifestObjects(await readTexts(path), objectsMax)
}

async function readTexts(path: string): Promise<z.infer<typeof manifestsSchema>> {
  try {
    return manifestsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)
    throw new ExpectedError(`Cannot apply ${path}: ${why}`, exitCodes.usage)
  }
}
