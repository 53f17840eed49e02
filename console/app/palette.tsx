/** Ctrl-K: every page and every cluster, by a few letters. */
import { useEffect, useMemo, useRef, useState, type KeyboardEvent as Key } from 'react'
import { useLocation } from 'wouter'
import { useFleet } from '../data/fleet/fleet-rows.ts'
import { viewLimits } from '../limits-table.ts'
import { Icon } from '../parts/icon.tsx'
import { partTexts } from '../parts/texts.ts'
import { useTexts } from '../words/language.ts'
import { pageTable } from './page-table.tsx'
import { paletteMatches, searchEntry, type PaletteEntry } from './palette-matches.ts'
import { appTexts } from './texts.ts'

export function PaletteButton() {
  const texts = useTexts(appTexts)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      // A terminal needs the key itself.
      if (event.target instanceof HTMLElement && event.target.closest('.terminal')) return
      event.preventDefault()
      setOpen(true)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <button type="button" className="button is-quiet palette-open" onClick={() => setOpen(true)}>
        <Icon name="search" />
        <span>{texts.goTo}</span>
        <kbd>Ctrl K</kbd>
      </button>
      {isOpen ? <Palette onClose={() => setOpen(false)} /> : undefined}
    </>
  )
}

function Palette({ onClose }: { readonly onClose: () => void }) {
  const texts = useTexts(appTexts)
  const dialog = useRef<HTMLDialogElement>(null)
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const entries = useEntries()
  const matches = useMemo(
    () => [
      ...paletteMatches(entries, text, viewLimits.paletteMatches),
      ...searchEntry(text, texts.searchAll(text.trim())),
    ],
    [entries, text, texts],
  )
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal()
  }, [])
  const go = (entry: PaletteEntry | undefined): void => {
    if (entry === undefined) return
    dialog.current?.close()
    navigate(entry.href)
  }
  const onKeyDown = (event: Key): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt(Math.max(0, Math.min(matches.length - 1, at + step)))
    } else if (event.key === 'Enter') go(matches[at])
  }
  return (
    <dialog ref={dialog} className="dialog palette" aria-label={texts.goTo} onClose={onClose}>
      <input
        className="palette-text"
        value={text}
        placeholder={texts.goToHint}
        aria-label={texts.goTo}
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={matches.length === 0 ? undefined : `palette-${at}`}
        autoFocus
        spellCheck={false}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
        }}
      />
      <ul id="palette-list" role="listbox" aria-label={texts.goTo} className="palette-list">
        {matches.map((entry, index) => (
          <li
            key={entry.href}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => go(entry)}
          >
            {entry.title}
            <span className="muted">{entry.note}</span>
          </li>
        ))}
      </ul>
    </dialog>
  )
}

function useEntries(): readonly PaletteEntry[] {
  const texts = useTexts(appTexts)
  const words = useTexts(partTexts)
  const { rows } = useFleet()
  return useMemo(() => {
    const pages = pageTable.flatMap(({ path, link }) =>
      link === undefined
        ? []
        : [{ title: link.title(texts), href: link.href ?? path, note: texts.page }],
    )
    const clusters = rows.map(({ n, s, r, z }) => ({
      title: n,
      href: `/clusters/${encodeURIComponent(n)}`,
      note: [words.states[s], z ?? r].filter(Boolean).join(' · '),
    }))
    return [...pages, ...clusters]
  }, [rows, texts, words])
}
