/** An editor for YAML, and the difference of two texts. It is loaded when somebody edits: it is large. */
import { useEffect, useRef } from 'react'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { unifiedMergeView } from '@codemirror/merge'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { styleNonce } from './style-nonce.ts'

interface YamlEditorProps {
  readonly label: string
  readonly text: string
  readonly onChange: (text: string) => void
}

export function YamlEditor({ label, text, onChange }: YamlEditorProps) {
  const room = useRef<HTMLDivElement>(null)
  const first = useRef(text)
  const changed = useRef(onChange)
  changed.current = onChange
  useEffect(() => {
    const parent = room.current
    if (parent === null) return
    const onUpdate = EditorView.updateListener.of((update) => {
      if (update.docChanged) changed.current(update.state.doc.toString())
    })
    const editing = [
      history(),
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
      highlightActiveLine(),
      highlightSelectionMatches(),
      onUpdate,
      EditorView.contentAttributes.of({ 'aria-label': label }),
    ]
    const view = editorView(parent, first.current, editing)
    view.focus()
    return () => view.destroy()
  }, [label])
  return <div className="editor" ref={room} />
}

interface YamlDifferenceProps {
  readonly label: string
  readonly before: string
  readonly after: string
}

export function YamlDifference({ label, before, after }: YamlDifferenceProps) {
  const room = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const parent = room.current
    if (parent === null) return
    const difference = [
      unifiedMergeView({
        original: before,
        mergeControls: false,
        collapseUnchanged: { margin: 3, minSize: 6 },
      }),
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ 'aria-label': label }),
    ]
    const view = editorView(parent, after, difference)
    return () => view.destroy()
  }, [label, before, after])
  return <div className="editor" ref={room} />
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--away)' },
  { tag: tags.comment, color: 'var(--muted)' },
])

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '12.5px', lineHeight: '18px' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-collapsedLines': { background: 'var(--hover)', color: 'var(--muted)' },
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--ok) 12%, transparent)' },
  '.cm-changedText': { background: 'color-mix(in srgb, var(--ok) 30%, transparent)' },
  '.cm-deletedChunk': { backgroundColor: 'color-mix(in srgb, var(--bad) 12%, transparent)' },
  '.cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in srgb, var(--bad) 30%, transparent)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--chosen)',
  },
})

function editorView(parent: HTMLElement, doc: string, extensions: Extension[]): EditorView {
  const shared = [
    EditorView.cspNonce.of(styleNonce()),
    lineNumbers(),
    yaml(),
    indentUnit.of('  '),
    syntaxHighlighting(colours),
    look,
  ]
  return new EditorView({
    parent,
    state: EditorState.create({ doc, extensions: [shared, extensions] }),
  })
}
