#!/bin/sh
# @NAME@: the @LANGUAGE@ compiler with what a program of MPI needs. Part of Motet @VERSION@.
#
# Everything is found from where this script lies, so that the whole folder can be moved.

here=$(dirname -- "$(readlink -f -- "$0")")
prefix=$(cd -- "$here/.." && pwd) || exit 1
compiler=${@VARIABLE@:-@COMPILER@}

# Says words as a shell would have to be given them.
say() {
  line=
  for word do
    case $word in
      *[!A-Za-z0-9_./:=,+@%-]*) word="'$(printf %s "$word" | sed "s/'/'\\\\''/g")'" ;;
    esac
    line="$line${line:+ }$word"
  done
  printf '%s\n' "$line"
}

show=no link=yes inputs=no
for word do
  shift
  case $word in
    -?*) ;;
    *) inputs=yes ;;
  esac
  case $word in
    -show | --show | -showme | --showme) show=yes ;;
    -showme:compile | --showme:compile | -compile-info | -compile_info) show=compile ;;
    -showme:link | --showme:link | -link-info | -link_info) show=link ;;
    -showme:command | --showme:command) show=command ;;
    -showme:incdirs | --showme:incdirs) show=incdirs ;;
    -showme:libdirs | --showme:libdirs) show=libdirs ;;
    -showme:libs | --showme:libs) show=libs ;;
    -showme:version | --showme:version) show=version ;;
    -cc=* | -cxx=*) compiler=${word#*=} ;;
    -c | -S | -E | -M | -MM | -fsyntax-only) link=no; set -- "$@" "$word" ;;
    *) set -- "$@" "$word" ;;
  esac
done

case $show in
  no | yes) ;;
  compile) say "-I$prefix/include"; exit ;;
  link) say "-L$prefix/lib" "-Wl,-rpath,$prefix/lib" -Wl,--enable-new-dtags -lmpi_abi; exit ;;
  command) echo "$compiler"; exit ;;
  incdirs) echo "$prefix/include"; exit ;;
  libdirs) echo "$prefix/lib"; exit ;;
  libs) echo mpi_abi; exit ;;
  version) echo 'Motet @VERSION@ (@NAME@)'; exit ;;
esac

# What asks the compiler about itself, as -v does, links nothing.
if [ "$link" = yes ] && [ "$show$inputs" != nono ]; then
  set -- "-I$prefix/include" "$@" "-L$prefix/lib" "-Wl,-rpath,$prefix/lib" \
    -Wl,--enable-new-dtags -lmpi_abi
else
  set -- "-I$prefix/include" "$@"
fi
if [ "$show" = yes ]; then
  echo "$compiler $(say "$@")"
  exit
fi
exec $compiler "$@"
