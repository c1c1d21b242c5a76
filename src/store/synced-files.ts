import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'

export function replaceSynced(file: string, text: string | Uint8Array, mode: number): void {
  rmSync(`${file}.new`, { force: true })
  writeSynced(`${file}.new`, text, mode)
  renameSync(`${file}.new`, file)
}

export function writeSynced(file: string, text: string | Uint8Array, mode: number): void {
  const descriptor = openSync(file, 'wx', mode)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
