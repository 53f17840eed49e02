import { formatJson } from '../golden.ts'
import type { Checkpoint } from './play-story.ts'
import { isFields, type Fields } from './story-api.ts'

/** Returns text that shows each changed object, chapter by chapter. */
export function formatCheckpoints(checkpoints: readonly Checkpoint[]): string {
  return checkpoints
    .map(({ name, changes }) => {
      const objects = Object.entries(changes).map(
        ([key, object]) => `${key}\n${formatJson(object, '')}\n`,
      )
      return `### ${name}\n\n${objects.join('\n')}`
    })
    .join('\n')
}

export function parseCheckpoints(text: string): Checkpoint[] {
  const [, ...sections] = text.split(/^### /m)
  return sections.map((section) => {
    const [name = '', ...objects] = section.trim().split('\n\n')
    const changes = objects.map((object): [string, Fields | null] => {
      const line = object.indexOf('\n')
      const value: unknown = JSON.parse(object.slice(line))
      return [object.slice(0, line), isFields(value) ? value : null]
    })
    return { name, changes: Object.fromEntries(changes) }
  })
}
