/** Line drawings on a grid of 16, drawn for this console. */
const drawings = {
  fleet: 'M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z',
  list: 'M2 4h1M5.5 4H14M2 8h1M5.5 8H14M2 12h1M5.5 12H14',
  add: 'M8 3v10M3 8h10',
  import: 'M8 2v7.5M5 6.8 8 9.8l3-3M2.5 10.5v3h11v-3',
  inbox: 'M2.5 9 4.5 3h7l2 6v4.5h-11zM2.5 9.5H6l.8 1.8h2.4l.8-1.8h3.5',
  layers: 'M8 2 14 5 8 8 2 5zM2.5 8.2 8 11l5.500-2.800M2.500 11.200 8 14l5.500-2.800',
  route:
    'M4 13.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3zM12 5.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3zM5.500 12h4a2.500 2.500 0 0 0 0-5h-3a2.500 2.500 0 0 1 0-3h4',
  key: 'M5.500 13.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.700 8.300 13 3M10.500 5.500l2 2M12 4l1.500 1.500',
  audit: 'M3.500 2h9v12h-9zM6 5.500h4M6 8h4M6 10.500h2.500',
  settings: 'M2 4.500h5.500M10.500 4.500H14M9 3v3M2 11.500h3.500M8.500 11.500H14M7 10v3',
  search: 'M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM10.300 10.300 14 14',
  virtual: 'M2.500 2.500H10V10H2.500zM6 12.500v1h7.500V6h-1',
  policy:
    'M2.500 4l1 1 1.700-2M7.500 4H14M2.500 8.500l1 1 1.700-2M7.500 8.500H14M2.500 13l1 1 1.700-2M7.500 13H14',
  objects: 'M8 2l5.500 3v6L8 14l-5.500-3V5zM2.500 5 8 8l5.500-3M8 8v6',
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M3.500 3.500l9 9M12.500 3.500l-9 9',
  copy: 'M5.500 5.500h8v8h-8zM3.500 10.500h-1v-8h8v1',
  check: 'M3 8.500 6.500 12 13 4.500',
  chevron: 'M6 3.500 10.500 8 6 12.500',
  leave: 'M9.500 2.500h-7v11h7M6.500 8H14M11 5l3 3-3 3',
  terminal: 'M2 3h12v10H2zM4.500 6 6.500 8l-2 2M8 10.200h3',
  refresh: 'M13 6a5.200 5.200 0 1 0 .3 3.500M13.500 2.500V6H10',
  download: 'M8 2v8M5 7.200l3 3 3-3M2.500 13.500h11',
  pause: 'M5.500 3v10M10.500 3v10',
  play: 'M4.500 2.800 12.500 8l-8 5.200z',
  user: 'M8 8a2.800 2.800 0 1 0 0-5.600A2.800 2.800 0 0 0 8 8zM2.800 14c.4-3 2.400-4.200 5.200-4.200s4.800 1.200 5.200 4.200',
} as const

export type IconName = keyof typeof drawings

/** The icon only decorates: the text next to it says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={drawings[name]} />
    </svg>
  )
}
