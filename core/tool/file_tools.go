package tool

import (
	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// maxRead is how much of a file read_file gives at once, in bytes.
const maxRead = 32 * 1024

type readInput struct {
	Path   string `json:"path" jsonschema:"the file, for example notes/today.md"`
	Offset int    `json:"offset,omitempty" jsonschema:"where to begin, in bytes; 0 is the start"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how much to read, in bytes; at most and by default 32768"`
}

type readOutput struct {
	Content string `json:"content"`
	Bytes   int    `json:"bytes"`          // of the whole file
	Next    int    `json:"next,omitempty"` // offset of the rest
}

type writeInput struct {
	Path    string `json:"path" jsonschema:"the file, for example notes/today.md"`
	Content string `json:"content" jsonschema:"the whole new text of the file"`
}

type tagInput struct {
	Path     string `json:"path" jsonschema:"the file, for example reports/june.md"`
	Artifact string `json:"artifact" jsonschema:"what it is, in a few words, for example report"`
}

type listOutput struct {
	Files []contract.FileInfo `json:"files"`
}

// FileTools are read_file, write_file, list_files and tag_artifact on the workspace of the session that a call runs for. Where there is
// none, each says so. All are repeated when the table does not answer.
func FileTools() Registry {
	all := Registry{
		ReadOnly(New("read_file", "Reads a file of this conversation's workspace.", readFile)),
		New("write_file", "Writes a file of this conversation's workspace: makes it, or replaces all of it.", writeFile),
		ReadOnly(New("list_files", "Lists the files of this conversation's workspace.", listFiles)),
		New("tag_artifact", "Makes a file of this conversation's workspace known as a result, such as a report, so that people find it.", tagArtifact),
	}
	for i, t := range all {
		all[i] = repeated{Tool: t, tries: DefaultTries, wait: DefaultWait, idempotent: true}
	}
	return all
}

func files(ctx Context) (Files, error) {
	if ctx.Files == nil {
		return nil, fault.New(fault.Invalid, "there is no workspace here")
	}
	return ctx.Files, nil
}

func readFile(ctx Context, in readInput) (readOutput, error) {
	from, err := files(ctx)
	if err != nil {
		return readOutput{}, err
	}
	content, err := from.ReadFile(ctx, in.Path)
	if err != nil {
		return readOutput{}, err
	}
	if in.Offset < 0 || in.Offset > len(content) {
		return readOutput{}, fault.New(fault.Invalid, "offset %d: want 0 to %d", in.Offset, len(content))
	}
	if in.Limit <= 0 || in.Limit > maxRead {
		in.Limit = maxRead
	}
	piece := Beginning(content[in.Offset:], in.Limit)
	out := readOutput{Content: piece, Bytes: len(content)}
	if end := in.Offset + len(piece); end < len(content) {
		out.Next = end
	}
	return out, nil
}

func writeFile(ctx Context, in writeInput) (contract.FileInfo, error) {
	to, err := files(ctx)
	if err != nil {
		return contract.FileInfo{}, err
	}
	return contract.FileInfo{Path: in.Path, Bytes: int64(len(in.Content))}, to.WriteFile(ctx, in.Path, in.Content)
}

func listFiles(ctx Context, _ struct{}) (listOutput, error) {
	of, err := files(ctx)
	if err != nil {
		return listOutput{}, err
	}
	all, err := of.ListFiles(ctx)
	if all == nil {
		all = []contract.FileInfo{}
	}
	return listOutput{Files: all}, err
}

func tagArtifact(ctx Context, in tagInput) (contract.FileInfo, error) {
	of, err := files(ctx)
	if err != nil {
		return contract.FileInfo{}, err
	}
	return of.TagFile(ctx, in.Path, in.Artifact)
}
