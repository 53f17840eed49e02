/** The language of the pages: English or Chinese, chosen once and kept in this browser. */
import { useSyncExternalStore } from 'react'

export type Language = 'en' | 'zh'

/** The same texts in both languages. A text with values in it is a function. */
export interface InBoth<Texts> {
  readonly en: Texts
  readonly zh: Texts
}

const storageKey = 'skerry-language'
const listeners = new Set<() => void>()
let current: Language | undefined

/** Makes sure that the Chinese texts have every name that the English ones have. */
export function inBoth<Texts>(texts: InBoth<Texts>): InBoth<Texts> {
  return texts
}

export function useTexts<Texts>(texts: InBoth<Texts>): Texts {
  return texts[useLanguage()]
}

export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, language)
}

export function language(): Language {
  current ??= languageOf(localStorage.getItem(storageKey) ?? navigator.language)
  return current
}

/** A choice that this browser does not know, such as one of a later version, counts as English. */
function languageOf(tag: string): Language {
  return tag.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

export function setLanguage(next: Language): void {
  current = next
  localStorage.setItem(storageKey, next)
  document.documentElement.lang = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
