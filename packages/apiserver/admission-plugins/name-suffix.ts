import type { Random } from '@skerry/base'

/** No vowels and no look-alikes, so that no suffix spells a word or misleads a reader. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** Returns five characters, as upstream appends to generated names. */
export function nameSuffix(random: Random): string {
  const pick = (): string => alphabet.charAt(Math.floor(random.next() * alphabet.length))
  return Array.from({ length: 5 }, pick).join('')
}
