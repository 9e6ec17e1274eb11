// What hosts need to know of session files.
export { EXTENSIONS, type ExportFormat, fileNameFor } from '../store/transfer'
