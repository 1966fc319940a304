/** Reads and writes ids of files, which are `file-` and a UUID without its dashes. */

export const fileIdOf = (uuid: string): string => `file-${uuid.replaceAll('-', '').toLowerCase()}`

/** Returns the UUID of an id, with or without its prefix. It is null for an id of another form. */
export function fileUuidIn(id: string): string | null {
  const [, hex] = /^(?:file-)?([0-9a-f]{32})$/i.exec(id.startsWith('file-') ? id : id.replaceAll('-', '')) ?? []
  return hex === undefined ? null : hex.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
